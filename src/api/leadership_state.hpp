// Owns: the state behind a Leadership, and the page that holds the end of its lease.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <bullring/leadership.hpp>

#include "src/base/os/clock.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

struct Leadership::State {
    State(std::shared_ptr<LeasePage> lease_page, protocol::Epoch of_epoch)
        : page(std::move(lease_page)), epoch(of_epoch) {
        report_progress();
    }
    void report_progress() {
        progress_ns.store(read_clock().boottime_ns, std::memory_order_relaxed);
    }

    std::shared_ptr<LeasePage> page;
    protocol::Epoch epoch;
    std::stop_source stop;
    std::atomic<std::int64_t> progress_ns{0};  // boottime
};

}  // namespace bullring
