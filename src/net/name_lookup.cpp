#include "src/net/name_lookup.hpp"

#include <mutex>
#include <utility>

#include <asio/post.hpp>
#include <pthread.h>

#include "src/net/tcp.hpp"
#include "src/os/quiet_thread.hpp"

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

    /// The body of the thread; `argument` is a shared pointer of its own.
    static void* ask(void* argument) {
        const std::unique_ptr<std::shared_ptr<Question>> own(
            static_cast<std::shared_ptr<Question>*>(argument));
        (*own)->answer(tcp::resolve((*own)->endpoint).value_or(Addresses{}));
        return nullptr;
    }

    std::mutex mutex;
    NameLookup* asked_by;  // under the mutex
    const Endpoint endpoint;
    const std::function<void(Addresses)> done;
};

namespace {

/// What the resolver's modules need, and no more: memory may be locked.
constexpr std::size_t stack_bytes = 512 * 1024;

bool start_detached_thread(void* (*body)(void*), void* argument) {
    const SignalsBlocked blocked;
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, stack_bytes);
    // The node's own thread may be a real-time one.
    ::pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_t thread{};
    const bool started = ::pthread_create(&thread, &attributes, body, argument) == 0;
    ::pthread_attr_destroy(&attributes);
    return started;
}

}  // namespace

void NameLookup::start(const Endpoint& endpoint, std::function<void(Addresses)> done) {
    question_ = std::make_shared<Question>(*this, endpoint, std::move(done));
    auto threads_own = std::make_unique<std::shared_ptr<Question>>(question_);
    if (start_detached_thread(&Question::ask, threads_own.get()))
        threads_own.release();
    else
        question_->answer({});
}

void NameLookup::forget() {
    if (question_ == nullptr) return;
    const std::lock_guard lock(question_->mutex);
    question_->asked_by = nullptr;
}

}  // namespace bullring
