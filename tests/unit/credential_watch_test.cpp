// Credentials that are read anew: what is sound takes the place of the old ones, what is not leaves
// them in force.
#include "src/security/credential_watch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/private_file.hpp"
#include "src/base/text/text.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/generous.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::credential_watch_test {

using namespace bullring::test;

namespace {

/// The reports of the watch, for another thread to wait for.
class Told {
public:
    void add(CredentialWatch::Context context) {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(context));
        changed_.notify_all();
    }
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, generous, [&] { return all_.size() >= count; });
    }
    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return all_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<CredentialWatch::Context> all_;
};

void write_keys(const std::string& path, const std::vector<Key>& keys) {
    std::string text;
    for (const Key& key : keys) text += line_of(key).view();
    REQUIRE(replace_file(path, text, secret_mode).has_value());
}

Key new_key_for_test() {
    auto key = new_key().value();
    return key;
}

/// A node with a key in a file, and what it is secured with.
struct Keyed {
    Keyed() {
        write_keys(file, {old});
        options.mode = SecurityMode::key;
        options.key_file = file;
        auto opened = open_tls(options, bearer).value();
        source = opened;
    }
    CredentialWatch watch(CredentialWatch::Load load = &load_tls_anew) {
        return CredentialWatch(
            options, bearer, source,
            {[this](CredentialWatch::Context context) { told.add(std::move(context)); },
             [this](const std::string& why) { left.push_back(why); }},
            std::move(load));
    }
    bool has(const Key& key) const {
        const CredentialWatch::Context now = source->now();
        const std::vector<std::string>& accepts = now->own().accepts;
        return std::find(accepts.begin(), accepts.end(), key.id) != accepts.end();
    }

    std::vector<std::string> left;  // the thread's, until it has ended
    const TemporaryDirectory directory;
    const std::string file = directory / "key";
    const Key old = new_key_for_test();
    const Key added = new_key_for_test();
    const Bearer bearer{"blue", protocol::NodeId{1}};
    SecurityOptions options;
    std::shared_ptr<TlsSource> source;
    Told told;
};

}  // namespace

TEST_CASE(
    "credentials: those that are asked for, or have changed, take the place of the old ones") {
    Keyed node;
    const CredentialWatch watch = node.watch();
    CHECK(!node.has(node.added));

    write_keys(node.file, {node.added, node.old});
    REQUIRE(node.told.wait_for(1));  // by itself
    CHECK(node.has(node.added));
    CHECK(node.source->now()->own().shown.key == node.added.id);

    REQUIRE(replace_file(node.file, "nothing\n", secret_mode).has_value());
    watch.read_again();
    write_keys(node.file, {node.old});
    watch.read_again();
    REQUIRE(node.told.wait_for(2));
    CHECK(node.source->now()->own().shown.key == node.old.id);
}

TEST_CASE("credentials: what has changed between the first reading and the watch is read") {
    Keyed node;
    write_keys(node.file, {node.added});
    const CredentialWatch watch = node.watch();
    REQUIRE(node.told.wait_for(1));
    CHECK(node.has(node.added));
}

TEST_CASE("credentials: a file whose mode alone has changed is read again") {
    Keyed node;
    std::promise<void> refused;
    std::once_flag once;
    const CredentialWatch watch = node.watch([&](const auto&... of_node) {
        auto loaded = load_tls_anew(of_node...);
        if (!loaded) std::call_once(once, [&] { refused.set_value(); });
        return loaded;
    });
    REQUIRE(::chmod(node.file.c_str(), 0644) == 0);
    REQUIRE(refused.get_future().wait_for(generous) == std::future_status::ready);
    CHECK(node.has(node.old));
    REQUIRE(::chmod(node.file.c_str(), 0600) == 0);
    CHECK(node.told.wait_for(1));
}

TEST_CASE("credentials: what is wrong is looked at again without a change, and said once") {
    Keyed node;
    std::atomic<int> loads{0};
    std::vector<std::string> lines;
    start_logging_to(LogLevel::error,
                     [&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
    {
        const CredentialWatch watch = node.watch([&](const auto&... of_node) {
            // As when the disk or the clock is mended, and no file is touched.
            if (++loads <= 2)
                return tl::expected<CredentialWatch::Context, std::string>(tl::unexpect, "no disk");
            return load_tls_anew(of_node...);
        });
        watch.read_again();
        CHECK(node.told.wait_for(1));
    }
    stop_logging();
    CHECK(loads.load() == 3);
    CHECK(node.left == std::vector<std::string>{"no disk"});
    CHECK(lines ==
          std::vector<std::string>{"node 1: the credentials have been left as they were: no disk"});
}

TEST_CASE("credentials: a FIFO in the place of a file is refused, and waited for by nobody") {
    Keyed node;
    REQUIRE(::unlink(node.file.c_str()) == 0);
    REQUIRE(::mkfifo(node.file.c_str(), 0600) == 0);
    const auto loaded = open_tls(node.options, node.bearer);
    REQUIRE(!loaded.has_value());
    CHECK(loaded.error() == in_quotes(node.file) + " is not a regular file");

    SecurityOptions certificates;
    certificates.mode = SecurityMode::tls;
    certificates.certificate_file = certificates.private_key_file = certificates.ca_file =
        certificates.crl_file = node.file;
    const auto problems = load_credentials(certificates, node.bearer);
    REQUIRE(!problems.has_value());
    CHECK(problems.error().size() == 4);
    for (const CredentialProblem& problem : problems.error())
        CHECK(problem.what == "is not a regular file");
}

TEST_CASE(
    "credentials: a list of revocations may come after the start, and is missed when it goes") {
    const TestCa ca;
    const Credentials own = ca.node(1);
    const TemporaryDirectory directory;
    SecurityOptions options;
    options.mode = SecurityMode::tls;
    options.certificate_file = options.private_key_file = directory / "node.pem";
    options.ca_file = directory / "ca.pem";
    options.crl_file = directory / "crl.pem";
    const auto write = [](const std::string& file, const std::string& text) {
        REQUIRE(replace_file(file, text, secret_mode).has_value());
    };
    write(options.certificate_file, pem_of(own.chain.front()) + pem_of(own.private_key));
    write(options.ca_file, pem_of(ca.certificate()));
    const Bearer bearer{"blue", protocol::NodeId{1}};

    const auto opened = open_tls(options, bearer).value();
    std::promise<std::string> warning;
    std::promise<std::string> error;
    Told told;
    const auto tell = [&](LogLevel level, const std::string& text) {
        if (text.starts_with("tls-crl")) warning.set_value(text);
        if (level == LogLevel::error) error.set_value(text);
    };
    const CredentialWatch watch(options, bearer, opened, {[&](CredentialWatch::Context context) {
                                    told.add(std::move(context));
                                }},
                                &load_tls_anew, tell);
    CHECK(warning.get_future().get() ==
          "tls-crl: " + in_quotes(options.crl_file) +
              " is not there yet: nothing is revoked until it is, and then it is read");
    CHECK((opened)->now()->credentials().revocations.empty());

    write(options.crl_file, pem_of(ca.revoke(ca.node(2), {.number = 1})));
    REQUIRE(told.wait_for(1));
    CHECK((opened)->now()->credentials().revocations.size() == 1);

    REQUIRE(::unlink(options.crl_file.c_str()) == 0);
    watch.read_again();
    CHECK(error.get_future().get().starts_with(
        "the credentials have been left as they were: " + in_quotes(options.crl_file) +
        " cannot be read: No such file or directory"));
    CHECK((opened)->now()->credentials().revocations.size() == 1);
}

TEST_CASE("credentials: nobody waits for a disk that does not answer, nor is told afterwards") {
    Keyed node;
    std::promise<void> begun;
    std::promise<void> answer;
    std::promise<void> thread_end;
    {
        const std::shared_ptr<void> held(nullptr, [&](void*) { thread_end.set_value(); });
        const CredentialWatch watch = node.watch([&, held](const auto&... of_node) {
            begun.set_value();
            answer.get_future().wait();
            return load_tls_anew(of_node...);
        });
        watch.read_again();
        begun.get_future().wait();
    }
    answer.set_value();
    thread_end.get_future().wait();
    CHECK(node.told.count() == 0);
}

TEST_CASE("credentials: the end of a certificate is said 30, 7 and 1 days before, and when it is") {
    constexpr std::int64_t day = 86'400;
    CHECK(!days_to_warn_of(31 * day));
    CHECK(days_to_warn_of(30 * day) == 30);
    CHECK(days_to_warn_of(8 * day) == 30);
    CHECK(days_to_warn_of(7 * day) == 7);
    CHECK(days_to_warn_of(day) == 1);
    CHECK(days_to_warn_of(1) == 1);
    CHECK(days_to_warn_of(0) == 0);
    CHECK(days_to_warn_of(-day) == 0);
}

}  // namespace bullring::credential_watch_test
