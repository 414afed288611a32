// Owns: the look at the rate of this machine's clocks, on which leases rest (PROTOCOL A2), while a
// node runs: what it is, for the metrics, and a line in the log when it leaves its bound and when
// it is back. In the loop; nothing waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "src/base/os/clock_rate.hpp"

namespace bullring {

/// "the kernel corrects the rate of this machine's clock by 12.0 ppm".
std::string correction_text(double ppm);
bool is_within(double ppm, std::uint32_t rho_ppm);

class ClockWatch {
public:
    /// `shown`, if there is one, gets what was measured last.
    ClockWatch(asio::io_context& io, std::uint32_t rho_ppm, std::atomic<double>* shown);

    /// A measurement.
    void note(double ppm);

private:
    void look_in(std::chrono::milliseconds time);

    asio::steady_timer timer_;
    std::uint32_t rho_ppm_;
    std::atomic<double>* shown_;
    ClockPair last_;
    bool outside_ = false;
    bool said_ = false;
};

}  // namespace bullring
