// What counts as standing still, and what does not.
#include "src/os/standstill.hpp"

#include <doctest/doctest.h>

namespace bullring::standstill_test {

namespace {

using protocol::Duration;
using protocol::milliseconds;
using Verdict = Standstill::Verdict;

constexpr Duration limit = milliseconds(80);

/// Looks at a thread at the moments that the judge asks for, or later.
class Watch {
public:
    Watch() { look('S'); }

    Verdict look(char state, Duration late = {0}) {
        now_ = now_ + judge_.every() + late;
        return judge_.look(now_, turns_, {state, ran_ns_});
    }
    Verdict look_often(int times, char state) {
        Verdict last = Verdict::turns;
        for (int i = 0; i < times; ++i) last = look(state);
        return last;
    }
    void turn() { ++turns_; }
    void run(Duration time) { ran_ns_ = std::max<std::int64_t>(ran_ns_, 0) + time.ns; }
    /// How many looks at this state it takes, from one at a turn on; 0: more than 100.
    int looks_until_it_stands(char state) {
        turn();
        look(state);
        for (int count = 1; count <= 100; ++count)
            if (look(state) == Verdict::stands) return count;
        return 0;
    }

private:
    Standstill judge_{limit};
    Duration now_ = milliseconds(1);
    std::uint64_t turns_ = 0;
    std::int64_t ran_ns_ = -1;
};

}  // namespace

TEST_CASE("standstill: it is looked at eight times within the limit, and at most each 500 us") {
    CHECK(Standstill(limit).every() == milliseconds(10));
    CHECK(Standstill(milliseconds(1)).every() == protocol::microseconds(500));
}

TEST_CASE("standstill: a thread that is stopped, traced or blocked stands when the limit is over") {
    for (const char state : {'T', 't', 'D'}) {
        CAPTURE(state);
        CHECK(Watch().looks_until_it_stands(state) == 8);
    }
}

TEST_CASE("standstill: a thread that sleeps is asked first, and counts only from then on") {
    Watch watch;
    watch.turn();
    CHECK(watch.look('S') == Verdict::turns);
    CHECK(watch.look('S') == Verdict::turns);
    CHECK(watch.look('S') == Verdict::ask);
    // The look at which it was asked found it asleep with a right to it.
    CHECK(watch.look_often(8, 'S') == Verdict::turns);
    CHECK(watch.look('S') == Verdict::stands);
}

TEST_CASE("standstill: a thread that answers when it is asked never stands") {
    Watch watch;
    for (int i = 0; i < 100; ++i)
        if (watch.look('S') == Verdict::ask) watch.turn();
    CHECK(watch.look('S') != Verdict::stands);
}

TEST_CASE("standstill: a turn makes good what was counted") {
    Watch watch;
    watch.turn();
    watch.look('T');
    CHECK(watch.look_often(7, 'T') != Verdict::stands);
    watch.turn();
    CHECK(watch.look_often(8, 'T') != Verdict::stands);
    CHECK(watch.look('T') == Verdict::stands);
}

TEST_CASE("standstill: what runs on a core without a turn counts as far as it has run") {
    Watch watch;
    watch.turn();
    watch.run(milliseconds(1));
    watch.look('R');
    int looks = 0;
    do {
        watch.run(milliseconds(5));
        ++looks;
    } while (watch.look('R') != Verdict::stands && looks < 100);
    CHECK(looks == 16);
}

TEST_CASE("standstill: a jump of the time that it ran counts as no more than the interval") {
    Watch watch;
    watch.run(milliseconds(1));
    watch.look('R');
    watch.run(protocol::seconds(10));
    CHECK(watch.look('R') != Verdict::stands);
}

TEST_CASE("standstill: who waits for a core, or of whom it is not known, never stands") {
    CHECK(Watch().looks_until_it_stands('R') == 0);
    Watch waiting;
    waiting.run(milliseconds(3));
    CHECK(waiting.looks_until_it_stands('R') == 0);
    for (const char state : {'Z', 'X', 'I', '?', Standstill::excused})
        CHECK(Watch().looks_until_it_stands(state) == 0);
}

TEST_CASE("standstill: an interval at whose end the watcher was late does not count") {
    Watch watch;
    for (int i = 0; i < 100; ++i) CHECK(watch.look('T', milliseconds(6)) != Verdict::stands);
    CHECK(watch.look_often(7, 'T') != Verdict::stands);
    CHECK(watch.look('T', milliseconds(6)) != Verdict::stands);
    CHECK(watch.look('T') == Verdict::stands);
}

TEST_CASE("standstill: who is on the point of going on is not killed for what was before") {
    Watch watch;
    watch.turn();
    watch.look('T');
    watch.look_often(7, 'T');
    CHECK(watch.look('R') != Verdict::stands);
    CHECK(watch.look('T') != Verdict::stands);
    CHECK(watch.look('T') == Verdict::stands);
}

}  // namespace bullring::standstill_test
