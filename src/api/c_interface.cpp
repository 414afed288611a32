// The C interface: no function lets an exception out. Instead it returns an error code, or the
// answer of a node that does not lead and knows no leader.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <bullring/bullring.h>
#include <bullring/version.hpp>

#include "src/api/node_core.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

namespace {

/// Changes that nobody has fetched; older ones of kinds LEADER and MEMBERS are dropped first.
constexpr std::size_t changes_max = 1024;

void copy_text(std::string_view text, char* into, std::size_t bytes) {
    if (into == nullptr || bytes == 0) return;
    const std::size_t count = std::min(text.size(), bytes - 1);
    std::memcpy(into, text.data(), count);
    into[count] = '\0';
}

/// The result of `body`; `failed` when it throws, as for want of memory.
template <class Body, class Result>
Result guarded(Result failed, Body body) noexcept {
    try {
        return body();
    } catch (...) {
        return failed;
    }
}

/// Does what has to be done whatever happens: again, until there is memory for it.
template <class Step>
void insist(Step step) noexcept {
    while (true) {
        try {
            return step();
        } catch (...) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

struct Told {
    int code;
    std::string why;  // when it is not BULLRING_OK
};

/// Gives the code of what `body` says or throws; the reason is written to `error`.
template <class Body>
int answered(char* error, std::size_t error_bytes, Body body) noexcept {
    const auto tell = [&](int code, std::string_view why) {
        if (code != BULLRING_OK) copy_text(why, error, error_bytes);
        return code;
    };
    try {
        const Told told = body();
        return tell(told.code, told.why);
    } catch (const ConfigError& wrong) {
        return tell(BULLRING_INVALID, wrong.what());
    } catch (const std::exception& failure) {
        return tell(BULLRING_FAILED, failure_text(failure));
    } catch (...) {
        return tell(BULLRING_FAILED, bullring_error(BULLRING_FAILED));
    }
}

/// The same, of a question to a node.
template <class Body>
int answered(const bullring_node* node, char* error, std::size_t error_bytes, Body body) noexcept {
    if (node != nullptr) return answered(error, error_bytes, body);
    copy_text("no node is given", error, error_bytes);
    return BULLRING_INVALID;
}

AdminAnswer change_by_name(const Administrator& administrator, const std::string& what,
                           std::uint64_t id, const std::string& address,
                           std::chrono::nanoseconds timeout) {
    const bool has_address = what == "add" || what == "address";
    if (!has_address && !address.empty())
        throw ConfigError({"address: " + in_quotes(address) + " means nothing to " +
                           in_quotes(what) + "; expected none"});
    if (what == "add") return administrator.add(id, address, timeout);
    if (what == "address") return administrator.change_address(id, address, timeout);
    if (what == "remove") return administrator.remove(id, timeout);
    if (what == "promote") return administrator.promote(id, timeout);
    if (what == "demote") return administrator.demote(id, timeout);
    throw ConfigError({"unknown change " + in_quotes(what) +
                       "; expected add, remove, promote, demote or address"});
}

}  // namespace

}  // namespace bullring

using namespace bullring;

/// Makes one queue of what the node and the leadership say.
struct bullring_node {
    explicit bullring_node(LibraryOptions options) : core(std::move(options)) {}
    bullring_node(const bullring_node&) = delete;
    bullring_node& operator=(const bullring_node&) = delete;
    ~bullring_node() {
        subscription.reset();
        insist([this] {
            const std::lock_guard lock(mutex);
            closing = true;
        });
        insist([this] { give_back(0, false); });
        insist([this] { core.stop(); });
        if (taker.joinable()) taker.join();
    }

    void begin() {
        core.begin_running();
        core.start();
        subscription = core.subscribe([this](const Change& change) {
            // The others come with the leadership itself.
            const bool of_members = change.kind == Change::Kind::members;
            if (change.kind != Change::Kind::leader && !of_members) return;
            push({of_members ? BULLRING_MEMBERS : BULLRING_LEADER, change.epoch,
                  change.leader ? change.leader->id : 0});
        });
        taker = quiet_thread([this] { take_leaderships(); });
    }

    void take_leaderships() noexcept {
        while (const auto taken = next_leadership()) {
            const std::uint64_t epoch = taken->epoch.value;
            bool offered = false;
            insist([&] { offered = offer(taken); });
            if (!offered) continue;
            const std::stop_callback asked(taken->stop.get_token(), [this, epoch] {
                insist([&] { push({BULLRING_STOP, epoch, 0}); });
            });
            insist([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return state != taken; });
            });
        }
        insist([this] {
            const std::lock_guard lock(mutex);
            closed = true;
            changed.notify_all();
        });
    }

    /// None when the node has ended.
    NodeCore::StatePtr next_leadership() noexcept {
        NodeCore::StatePtr taken;
        insist([&] { taken = core.take(); });
        return taken;
    }

    /// False when the user is not to have it any more. When it throws, nothing has happened.
    bool offer(const NodeCore::StatePtr& taken) {
        const std::optional<Leader> leader = core.leader();
        std::unique_lock lock(mutex);
        if (closing) {
            lock.unlock();
            core.give_back(taken, false);
            return false;
        }
        queue({BULLRING_ELECTED, taken->epoch.value, leader ? leader->id : 0});
        state = taken;
        leadership.emplace(NodeCore::leadership(taken));
        return true;
    }

    void push(bullring_change change) {
        const std::lock_guard lock(mutex);
        queue(change);
    }

    /// Under the mutex.
    void queue(bullring_change change) {
        if (changes.size() >= changes_max) {
            const auto news = std::find_if(changes.begin(), changes.end(), [](const auto& one) {
                return one.kind == BULLRING_LEADER || one.kind == BULLRING_MEMBERS;
            });
            changes.erase(news == changes.end() ? changes.begin() : news);
        }
        changes.push_back(change);
        changed.notify_all();
    }

    /// False when no leadership of this epoch is under way; 0: of any. When it throws, it still is.
    bool give_back(std::uint64_t epoch, bool failed) {
        const std::lock_guard lock(mutex);
        if (!state || (epoch != 0 && state->epoch.value != epoch)) return false;
        core.give_back(state, failed);
        changed.notify_all();
        leadership.reset();
        state.reset();
        return true;
    }

    NodeCore core;
    Subscription subscription;
    std::thread taker;

    mutable std::mutex mutex;
    std::condition_variable changed;
    std::deque<bullring_change> changes;
    NodeCore::StatePtr state;  // under which the user works
    std::optional<Leadership> leadership;
    bool closing = false;  // by the user
    bool closed = false;   // the node has ended
};

const char* bullring_error(int code) {
    switch (code) {
        case BULLRING_OK: return "no error";
        case BULLRING_INVALID: return "invalid settings or argument";
        case BULLRING_FAILED: return "the node can't start or can't continue";
        case BULLRING_TIMEOUT: return "not in time";
        case BULLRING_REFUSED: return "refused";
        case BULLRING_CLOSED: return "the node has ended";
        default: return "unknown error";
    }
}

const char* bullring_version(void) { return version.data(); }

bullring_node* bullring_open(const char* const* settings, int* code, char* error,
                             size_t error_bytes) {
    bullring_node* opened = nullptr;
    const int kind = answered(error, error_bytes, [&]() -> Told {
        Problems problems;
        LibraryOptions options = library_options(settings, problems);
        if (!problems.empty()) return {BULLRING_INVALID, joined(problems)};
        auto node = std::make_unique<bullring_node>(std::move(options));
        node->begin();
        opened = node.release();
        return {BULLRING_OK, {}};
    });
    if (code != nullptr) *code = kind;
    return opened;
}

void bullring_close(bullring_node* node) { delete node; }

int bullring_wait(bullring_node* node, int timeout_ms, bullring_change* change) {
    if (node == nullptr || change == nullptr) return BULLRING_INVALID;
    return guarded(int{BULLRING_FAILED}, [&]() -> int {
        std::unique_lock lock(node->mutex);
        const auto ready = [node] { return !node->changes.empty() || node->closed; };
        if (timeout_ms < 0) {
            node->changed.wait(lock, ready);
        } else if (!node->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
            return BULLRING_TIMEOUT;
        }
        if (node->changes.empty()) return BULLRING_CLOSED;
        *change = node->changes.front();
        node->changes.pop_front();
        return BULLRING_OK;
    });
}

uint64_t bullring_epoch(const bullring_node* node) {
    if (node == nullptr) return 0;
    return guarded(uint64_t{0}, [&]() -> uint64_t {
        const std::lock_guard lock(node->mutex);
        if (!node->leadership || !node->leadership->valid()) return 0;
        return node->leadership->epoch();
    });
}

int bullring_valid(const bullring_node* node, uint64_t epoch) {
    if (node == nullptr) return 0;
    return guarded(0, [&]() -> int {
        const std::lock_guard lock(node->mutex);
        return node->leadership && node->leadership->epoch() == epoch && node->leadership->valid();
    });
}

int64_t bullring_time_left_ns(const bullring_node* node) {
    if (node == nullptr) return 0;
    return guarded(int64_t{0}, [&]() -> int64_t {
        const std::lock_guard lock(node->mutex);
        return node->leadership ? node->leadership->time_left().count() : 0;
    });
}

void bullring_progress(bullring_node* node) {
    if (node == nullptr) return;
    guarded(0, [&] {
        const std::lock_guard lock(node->mutex);
        if (node->leadership) node->leadership->report_progress();
        return 0;
    });
}

int bullring_done(bullring_node* node, uint64_t epoch, int failed) {
    if (node == nullptr || epoch == 0) return BULLRING_INVALID;
    return guarded(int{BULLRING_FAILED}, [&]() -> int {
        return node->give_back(epoch, failed != 0) ? BULLRING_OK : BULLRING_INVALID;
    });
}

uint64_t bullring_leader(const bullring_node* node, uint64_t* epoch, char* advertised,
                         size_t advertised_bytes) {
    const auto tell = [&](uint64_t id, uint64_t of_epoch, std::string_view text) {
        if (epoch != nullptr) *epoch = of_epoch;
        copy_text(text, advertised, advertised_bytes);
        return id;
    };
    if (node != nullptr) {
        try {
            if (const std::optional<Leader> leader = node->core.leader())
                return tell(leader->id, leader->epoch, leader->advertised);
        } catch (...) {
            // Nobody is known then.
        }
    }
    return tell(0, 0, "");
}

int bullring_resign(bullring_node* node, uint64_t to, int timeout_ms, char* error,
                    size_t error_bytes) {
    return answered(node, error, error_bytes, [&]() -> Told {
        const Resignation result = node->core.resign(to, std::chrono::milliseconds(timeout_ms));
        if (result.done) return {BULLRING_OK, {}};
        return {result.refused ? BULLRING_REFUSED : BULLRING_TIMEOUT, result.why};
    });
}

size_t bullring_members(const bullring_node* node, bullring_member* members, size_t max, char* tag,
                        size_t tag_bytes) {
    copy_text("", tag, tag_bytes);
    if (node == nullptr) return 0;
    return guarded(size_t{0}, [&]() -> size_t {
        const MemberList list = node->core.members();
        copy_text(list.tag, tag, tag_bytes);
        const size_t told = members == nullptr ? 0 : std::min(max, list.members.size());
        for (size_t i = 0; i < told; ++i) {
            const ListedMember& one = list.members[i];
            members[i].id = one.id;
            members[i].votes = one.votes ? 1 : 0;
            copy_text(one.address, members[i].address, sizeof members[i].address);
        }
        return list.members.size();
    });
}

int bullring_change_member(bullring_node* node, const char* what, uint64_t id, const char* address,
                           int timeout_ms, char* error, size_t error_bytes) {
    return answered(node, error, error_bytes, [&]() -> Told {
        const auto timeout = timeout_ms < 0 ? std::chrono::nanoseconds::max()
                                            : std::chrono::milliseconds(timeout_ms);
        const Administrator administrator = node->core.administrator();
        const AdminAnswer answer = change_by_name(administrator, what == nullptr ? "" : what, id,
                                                  address == nullptr ? "" : address, timeout);
        return {answer.done ? BULLRING_OK : BULLRING_REFUSED, answer.why};
    });
}
