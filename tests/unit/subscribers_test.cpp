#include "src/api/subscribers.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::subscribers_test {

TEST_CASE("subscribers: who is too slow loses the oldest changes, and is told how many") {
    const auto subscribers = std::make_shared<Subscribers>();
    std::atomic<bool> entered{false};
    std::atomic<bool> slow{true};
    std::vector<std::uint64_t> epochs;
    std::uint64_t missed = 0;
    const Subscription subscription = subscribers->add(
        [&](const Change& change) {
            entered = true;
            while (slow) std::this_thread::yield();
            epochs.push_back(change.epoch);
            missed += change.missed;
        },
        Change{});
    while (!entered) std::this_thread::yield();
    for (std::uint64_t epoch = 1; epoch <= Subscribers::waiting_max + 5; ++epoch) {
        Change change;
        change.epoch = epoch;
        subscribers->push(change);
    }
    slow = false;
    subscribers->finish();
    REQUIRE(epochs.size() == Subscribers::waiting_max + 1);
    CHECK(epochs[0] == 0);
    CHECK(epochs[1] == 6);
    CHECK(epochs.back() == Subscribers::waiting_max + 5);
    CHECK(missed == 5);
}

TEST_CASE("subscribers: who comes later hears nothing of what was before its first change") {
    const auto subscribers = std::make_shared<Subscribers>();
    std::atomic<bool> slow{true};
    const Subscription one = subscribers->add(
        [&](const Change&) {
            while (slow) std::this_thread::yield();
        },
        Change{});
    Change change;
    change.epoch = 1;
    subscribers->push(change);
    std::vector<std::uint64_t> epochs;
    const Subscription other =
        subscribers->add([&](const Change& told) { epochs.push_back(told.epoch); }, change);
    change.epoch = 2;
    subscribers->push(change);
    slow = false;
    subscribers->finish();
    CHECK(epochs == std::vector<std::uint64_t>{1, 2});
}

}  // namespace bullring::subscribers_test
