#include "src/base/os/latest.hpp"

#include <thread>

#include <doctest/doctest.h>

namespace bullring::latest_test {
namespace {

TEST_CASE("latest: nothing published is the value as it was made") {
    Latest<int> latest;
    CHECK(latest.read() == 0);
}

TEST_CASE("latest: the newest is read, and read again until there is a newer one") {
    Latest<int> latest;
    for (const int value : {1, 2, 3}) {
        latest.next() = value;
        latest.publish();
    }
    CHECK(latest.read() == 3);
    latest.next() = 4;
    CHECK(latest.read() == 3);
    latest.publish();
    CHECK(latest.read() == 4);
    CHECK(latest.read() == 4);
}

TEST_CASE("latest: a reader in another thread sees whole values, and never an older one again") {
    struct Pair {
        int one = 0;
        int other = 0;
    };
    constexpr int last = 200'000;
    Latest<Pair> latest;
    std::thread writer([&] {
        for (int i = 1; i <= last; ++i) {
            latest.next() = {i, -i};
            latest.publish();
        }
    });
    int seen = 0;
    bool whole = true;
    bool rising = true;
    while (seen != last) {
        const Pair& pair = latest.read();
        whole = whole && pair.one == -pair.other;
        rising = rising && pair.one >= seen;
        seen = pair.one;
    }
    writer.join();
    CHECK(whole);
    CHECK(rising);
}

}  // namespace
}  // namespace bullring::latest_test
