#include "src/node/clock_watch.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"

namespace bullring {

namespace {

constexpr std::chrono::milliseconds first_look{1000};
constexpr std::chrono::milliseconds clock_look_every{10'000};

}  // namespace

std::string correction_text(double ppm) {
    return fmt::format("the kernel corrects the rate of this machine's clock by {:.1f} ppm", ppm);
}

bool is_within(double ppm, std::uint32_t rho_ppm) {
    return std::abs(ppm) <= static_cast<double>(rho_ppm);
}

ClockWatch::ClockWatch(asio::io_context& io, std::uint32_t rho_ppm, std::atomic<double>* shown)
    : timer_(io), rho_ppm_(rho_ppm), shown_(shown), last_(read_clock_pair()) {
    look_in(first_look);
}

void ClockWatch::look_in(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        const ClockPair now = read_clock_pair();
        if (const auto ppm = correction_ppm(last_, now)) {
            last_ = now;
            note(*ppm);
        }
        look_in(clock_look_every);
    });
}

void ClockWatch::note(double ppm) {
    if (shown_ != nullptr) shown_->store(ppm, std::memory_order_relaxed);
    const bool outside = !is_within(ppm, rho_ppm_);
    if (outside == std::exchange(outside_, outside)) return;
    if (outside)
        said_ = log_limited(LogLevel::warn, "clock", {},
                            fmt::format("{}, more than the {} ppm that leases allow for: one of "
                                        "the two clocks by which they end is wrong",
                                        correction_text(ppm), rho_ppm_));
    else if (std::exchange(said_, false))
        log(LogLevel::info, fmt::format("{} now, within the {} ppm that leases allow for",
                                        correction_text(ppm), rho_ppm_));
}

}  // namespace bullring
