// Credentials that are read anew: what is sound takes the place of the old ones, what is not leaves
// them in force.
#include "src/security/credential_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/security/private_file.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::credential_watch_test {

using namespace bullring::test;

namespace {

/// What the watch tells, for another thread to wait for.
class Told {
public:
    void add(CredentialWatch::Context context) {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(context));
        changed_.notify_all();
    }
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20),
                                 [&] { return all_.size() >= count; });
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
    auto key = new_key();
    REQUIRE(key.has_value());
    return *key;
}

}  // namespace

TEST_CASE(
    "credentials: those that are asked for, or have changed, take the place of the old ones") {
    const TemporaryDirectory directory;
    const std::string file = directory / "key";
    const Key old = new_key_for_test();
    const Key added = new_key_for_test();
    write_keys(file, {old});
    SecurityOptions options;
    options.mode = SecurityMode::key;
    options.key_file = file;
    const Bearer bearer{"blue", protocol::NodeId{1}};
    auto opened = open_tls(options, bearer);
    REQUIRE(opened.has_value());
    const std::shared_ptr<TlsSource> source = *opened;
    Told told;
    const CredentialWatch watch(options, bearer, source, [&](CredentialWatch::Context context) {
        told.add(std::move(context));
    });
    CHECK(source->now()->key_of(added.id, PeerRole::member) == nullptr);

    write_keys(file, {added, old});
    REQUIRE(told.wait_for(1));  // by itself
    CHECK(source->now()->key_of(added.id, PeerRole::member) != nullptr);
    CHECK(source->now()->dialling_key() == added);

    REQUIRE(replace_file(file, "nothing\n", secret_mode).has_value());
    watch.read_again();
    write_keys(file, {old});
    watch.read_again();
    REQUIRE(told.wait_for(2));
    CHECK(source->now()->dialling_key() == old);
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
