#include "src/security/credential_watch.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/bell.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/rfc3339.hpp"

namespace bullring {

namespace {

constexpr int look_every_ms = 2000;
constexpr std::chrono::seconds end_max{1};
constexpr std::int64_t day = 86'400;
constexpr std::array<std::int64_t, 4> days_before{0, 1, 7, 30};

}  // namespace

std::optional<std::int64_t> days_to_warn_of(std::int64_t seconds_left) {
    for (const std::int64_t days : days_before)
        if (seconds_left <= days * day) return days;
    return std::nullopt;
}

/// The thread's state. Shared with the thread: it may outlive the watch.
class CredentialWatch::Reader {
public:
    Reader(SecurityOptions options, Bearer bearer, std::shared_ptr<TlsSource> source,
           Callbacks callbacks, Load load, Tell tell)
        : options_(std::move(options)),
          bearer_(std::move(bearer)),
          source_(std::move(source)),
          callbacks_(std::move(callbacks)),
          load_(std::move(load)),
          tell_(std::move(tell)),
          seen_(source_->first_marks()) {}

    /// Before the thread is there.
    void tell_missing_list() const {
        const std::string missing = missing_list(options_, source_->now()->credentials());
        if (!missing.empty()) tell_(LogLevel::warn, "tls-crl: " + missing);
    }

    void run() {
        ::prctl(PR_SET_NAME, "credentials", 0, 0, 0);
        if (bearer_.node) log_as(bearer_.node);
        leave_shared_descriptors({bell_.fd()});
        // A command that ends at once is none that has to be warned.
        if (bearer_.node) warn_of_end();
        while (!over()) {
            pollfd bell{bell_.fd(), POLLIN, 0};
            if (::poll(&bell, 1, look_every_ms) > 0) asked_ = true;
            bell_.quiet();
            if (over()) break;
            read();
            warn_of_end();
        }
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }

    void ask() const { bell_.ring(); }

    /// False when the thread is still at work afterwards.
    bool end() {
        std::unique_lock lock(mutex_);
        over_ = true;
        bell_.ring();
        return changed_.wait_for(lock, end_max, [this] { return ended_; });
    }

private:
    bool over() const {
        const std::lock_guard lock(mutex_);
        return over_;
    }

    /// A problem may end without a change of the files: a directory, a mount, a clock. So it is
    /// looked at again, and reported again where somebody waits for an answer.
    void read() {
        CredentialMarks marks = marks_of(options_);
        const bool is_news = std::exchange(asked_, false) || marks != seen_;
        if (!is_news && problem_.empty()) return;
        auto context = load_(options_, bearer_, *source_->now());
        if (marks_of(options_) != marks) {
            asked_ = is_news;  // it may have been read in part: it is read once more, next time
            return;
        }
        seen_ = std::move(marks);
        if (!context)
            tell_problem(context.error(), is_news);
        else
            tell_renewed(std::move(*context));
    }

    void tell_problem(const std::string& problem, bool is_news) {
        if (over() || (!is_news && problem == problem_)) return;
        problem_ = problem;
        tell_(LogLevel::error, "the credentials have been left as they were: " + problem);
        const std::lock_guard lock(mutex_);
        if (!over_) callbacks_.left(problem);
    }

    void tell_renewed(Context context) {
        if (over()) return;
        problem_.clear();
        tell_(LogLevel::info, "the credentials have been read anew: " + context->described());
        source_->replace(context);
        const std::lock_guard lock(mutex_);  // so that nothing is reported after end()
        if (over_) return;
        callbacks_.renewed(std::move(context));
    }

    void warn_of_end() {
        const char* const whose = bearer_.node ? "this node's" : "this observer's";
        const std::int64_t now = std::time(nullptr);
        const std::int64_t begin = source_->now()->not_before();
        if (const bool early = now < begin; early != std::exchange(is_early_, early))
            tell_(early ? LogLevel::warn : LogLevel::info,
                  early
                      ? fmt::format("{} certificate is not valid before {}: until then, by the "
                                    "clocks of this machine and the others, no other node lets it "
                                    "in; is the clock right?",
                                    whose, Rfc3339(std::chrono::seconds(begin)).date())
                      : fmt::format("{} certificate is valid now", whose));
        const std::int64_t end = source_->now()->not_after();
        if (end == 0) return;
        if (end != warned_not_after_) {
            warned_not_after_ = end;
            warned_days_ = days_before.back() + 1;
        }
        const auto days = days_to_warn_of(end - now);
        if (!days || *days >= warned_days_) return;
        warned_days_ = *days;
        tell_(LogLevel::warn,
              *days == 0
                  ? fmt::format("{} certificate has expired: no other node lets it in until there "
                                "is a new one in its file",
                                whose)
                  : fmt::format("{} certificate expires in less than {} day{}: {}", whose, *days,
                                *days == 1 ? "" : "s", source_->now()->described()));
    }

    const SecurityOptions options_;
    const Bearer bearer_;
    const std::shared_ptr<TlsSource> source_;
    const Callbacks callbacks_;
    const Load load_;
    const Tell tell_;
    Bell bell_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    bool ended_ = false;
    // ---- The thread's.
    bool asked_ = false;
    CredentialMarks seen_;
    std::string problem_;  // with the files as they are; empty: none
    bool is_early_ = false;
    std::int64_t warned_not_after_ = 0;
    std::int64_t warned_days_ = 0;
};

CredentialWatch::CredentialWatch(SecurityOptions options, Bearer bearer,
                                 std::shared_ptr<TlsSource> source, Callbacks callbacks, Load load,
                                 Tell tell)
    : reader_(std::make_shared<Reader>(std::move(options), std::move(bearer), std::move(source),
                                       std::move(callbacks), std::move(load), std::move(tell))) {
    reader_->tell_missing_list();
    thread_ = quiet_thread([reader = reader_] { reader->run(); });
}

CredentialWatch::~CredentialWatch() {
    if (reader_->end())
        thread_.join();
    else
        thread_.detach();
}

void CredentialWatch::read_again() const { reader_->ask(); }

}  // namespace bullring
