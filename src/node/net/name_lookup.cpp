#include "src/node/net/name_lookup.hpp"

#include <mutex>
#include <system_error>
#include <utility>

#include <asio/post.hpp>
#include <pthread.h>
#include <sched.h>

#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

/// Shared with the thread, which may outlive everything else: it reaches the loop only while
/// somebody waits for the answer.
struct NameLookup::Question : std::enable_shared_from_this<NameLookup::Question> {
    Question(NameLookup& by, Endpoint what, std::function<void(Addresses)> then)
        : asked_by(&by), endpoint(std::move(what)), done(std::move(then)) {}

    void answer(Addresses found) {
        const std::lock_guard lock(mutex);
        if (asked_by == nullptr) return;
        asio::post(asked_by->io_, [self = shared_from_this(), found = std::move(found)]() mutable {
            if (self->asked_by == nullptr) return;  // only the loop's own thread forgets
            self->asked_by->question_.reset();
            self->done(std::move(found));
        });
    }

    /// The thread.
    void ask() {
        // The node's own thread may be a real-time one, and this would be too.
        const sched_param usual{};
        ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &usual);
        answer(tcp::resolve(endpoint).value_or(Addresses{}));
    }

    std::mutex mutex;
    NameLookup* asked_by;  // under the mutex
    const Endpoint endpoint;
    const std::function<void(Addresses)> done;
};

void NameLookup::start(const Endpoint& endpoint, std::function<void(Addresses)> done) {
    question_ = std::make_shared<Question>(*this, endpoint, std::move(done));
    try {
        quiet_thread([question = question_] { question->ask(); }).detach();
    } catch (const std::system_error&) {  // there are no more threads
        question_->answer({});
    }
}

void NameLookup::forget() {
    if (question_ == nullptr) return;
    const std::lock_guard lock(question_->mutex);
    question_->asked_by = nullptr;
}

}  // namespace bullring
