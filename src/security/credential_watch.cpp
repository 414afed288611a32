#include "src/security/credential_watch.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "src/os/descriptors.hpp"
#include "src/os/quiet_thread.hpp"
#include "src/report/logging.hpp"

namespace bullring {

namespace {

constexpr int look_every_ms = 2000;
constexpr std::int64_t day = 86'400;
constexpr std::array<std::int64_t, 4> days_before{0, 1, 7, 30};

/// Also when a link is set to another file, or another file has been moved to its place.
std::string mark_of(const std::string& file) {
    struct stat about {};
    if (file.empty() || ::stat(file.c_str(), &about) != 0) return {};
    return fmt::format("{}:{}:{}:{}.{}", about.st_dev, about.st_ino, about.st_size,
                       about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

CredentialWatch::Marks marks_of(const SecurityOptions& options) {
    return {mark_of(options.key_file),         mark_of(options.observer_key_file),
            mark_of(options.certificate_file), mark_of(options.private_key_file),
            mark_of(options.ca_file),          mark_of(options.crl_file)};
}

}  // namespace

std::optional<std::int64_t> days_to_warn_of(std::int64_t seconds_left) {
    for (const std::int64_t days : days_before)
        if (seconds_left <= days * day) return days;
    return std::nullopt;
}

CredentialWatch::CredentialWatch(SecurityOptions options, Bearer bearer,
                                 std::shared_ptr<TlsSource> source,
                                 std::function<void(Context)> renewed)
    : options_(std::move(options)),
      bearer_(std::move(bearer)),
      source_(std::move(source)),
      renewed_(std::move(renewed)),
      seen_(marks_of(options_)) {
    thread_ = quiet_thread([this] { run(); });
}

CredentialWatch::~CredentialWatch() {
    over_.store(true);
    bell_.ring();
    thread_.join();
}

void CredentialWatch::run() {
    ::prctl(PR_SET_NAME, "credentials", 0, 0, 0);
    log_as(bearer_.node);
    leave_shared_descriptors({bell_.fd()});
    while (!over_.load()) {
        warn_of_end();
        pollfd bell{bell_.fd(), POLLIN, 0};
        const bool asked = ::poll(&bell, 1, look_every_ms) > 0;
        bell_.quiet();
        if (over_.load()) return;
        read(asked);
    }
}

void CredentialWatch::read(bool asked) {
    Marks marks = marks_of(options_);
    if (!asked && marks == seen_) return;
    auto context = load_tls(options_, bearer_);
    // What was written meanwhile may have been read in part: it is read once more.
    if (marks_of(options_) != marks) return bell_.ring();
    seen_ = std::move(marks);
    if (!context) {
        log(LogLevel::error, "the credentials have been left as they were: " + context.error());
        return;
    }
    log(LogLevel::info, "the credentials have been read anew");
    source_->replace(*context);
    renewed_(std::move(*context));
}

void CredentialWatch::warn_of_end() {
    const std::int64_t end = source_->now()->not_after();
    if (end == 0) return;
    if (end != warned_not_after_) {
        warned_not_after_ = end;
        warned_days_ = days_before.back() + 1;
    }
    const auto days = days_to_warn_of(end - std::time(nullptr));
    if (!days || *days >= warned_days_) return;
    warned_days_ = *days;
    log(LogLevel::warn,
        *days == 0 ? std::string("this node's certificate has expired: no other node lets it in")
                   : fmt::format("this node's certificate expires in less than {} day{}", *days,
                                 *days == 1 ? "" : "s"));
}

}  // namespace bullring
