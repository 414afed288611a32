#include "src/watch/node_watch.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/os/clock.hpp"

namespace bullring {

NodeWatch::NodeWatch(const LoopPulse& pulse, protocol::Duration limit)
    : pulse_(pulse),
      limit_(limit),
      node_(::getppid()),
      process_(static_cast<int>(::syscall(SYS_pidfd_open, node_, 0))),
      standstill_(limit) {
    // It has died meanwhile, and its number may be another's.
    if (::getppid() != node_) process_ = OwnedFd();
}

void NodeWatch::doubt() {
    if (limit_.ns == 0 || !process_) return;
    in_doubt_ = true;
    turns_ = pulse_.turns.load();
    standstill_ = Standstill(limit_);
    const protocol::Duration now{read_clock().boottime_ns};
    standstill_.moves(now, turns_, now);
    thread_.emplace(node_, node_);
}

void NodeWatch::trust() {
    in_doubt_ = false;
    thread_.reset();
}

bool NodeWatch::look() {
    const bool turned = pulse_.turns.load() != turns_;
    const auto seen = thread_->look();
    if (turned) trust();
    // One that can't be seen is about to be gone, or is left to its lease.
    if (!seen) thread_.reset();
    if (turned || !seen) return false;
    const auto verdict = standstill_.look({read_clock().boottime_ns}, *seen);
    if (verdict != Standstill::Verdict::stands) return false;
    thread_.reset();
    return ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) == 0;
}

}  // namespace bullring
