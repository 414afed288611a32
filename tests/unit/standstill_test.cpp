// Tests which threads count as standing still, and which do not.
#include "src/watch/standstill.hpp"

#include <algorithm>

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
        now_ = now_ + judge_.wait() + late;
        if (judge_.moves(now_, turns_, turned_at_)) return Verdict::turns;
        return judge_.look(now_, {state, ran_ns_});
    }
    void turn() {
        ++turns_;
        turned_at_ = now_;
    }
    void run(Duration time) { ran_ns_ = std::max<std::int64_t>(ran_ns_, 0) + time.ns; }
    Duration wait() const { return judge_.wait(); }
    /// In this state, from a turn on that is seen at once. 0: longer than a minute.
    Duration until_it_stands(char state) {
        turn();
        look(state);
        const Duration from = turned_at_;
        while (now_ - from < protocol::seconds(60))
            if (look(state) == Verdict::stands) return now_ - from;
        return {0};
    }
    bool stands_within(int looks, char state, Duration late = {0}) {
        for (int i = 0; i < looks; ++i)
            if (look(state, late) == Verdict::stands) return true;
        return false;
    }

private:
    Standstill judge_{limit};
    Duration now_ = milliseconds(1);
    Duration turned_at_ = now_;
    std::uint64_t turns_ = 0;
    std::int64_t ran_ns_ = -1;
};

}  // namespace

TEST_CASE("standstill: a thread that turns is looked at three times within the limit") {
    Watch watch;
    watch.turn();
    CHECK(watch.look('S') == Verdict::turns);
    CHECK(watch.wait() <= milliseconds(30));
    CHECK(watch.wait() >= milliseconds(5));
}

TEST_CASE("standstill: the next look comes when it has been quiet for three eighths of the limit") {
    Standstill judge(limit);
    CHECK(judge.moves(milliseconds(1000), 1, milliseconds(993)));
    CHECK(judge.wait() == milliseconds(23));
    CHECK(judge.moves(milliseconds(1013), 2, milliseconds(1013)));
    CHECK(judge.wait() == milliseconds(30));
    // A turn that was not its last is no reason to look at once.
    CHECK(judge.moves(milliseconds(1043), 3, milliseconds(500)));
    CHECK(judge.wait() == milliseconds(5));
    CHECK_FALSE(judge.moves(milliseconds(1048), 3, milliseconds(500)));
    judge.look(milliseconds(1048), {'S', -1});
    CHECK(judge.wait() == milliseconds(10));
}

TEST_CASE("standstill: a thread that is stopped, traced or blocked stands when the limit is over") {
    for (const char state : {'T', 't', 'D'}) {
        CAPTURE(state);
        // A little more, for the time between its last turn and its stop.
        CHECK(Watch().until_it_stands(state) > limit);
        CHECK(Watch().until_it_stands(state) <= limit + limit / 4);
    }
}

TEST_CASE("standstill: a thread that sleeps is asked first, and counts only from then on") {
    Watch watch;
    watch.turn();
    CHECK(watch.look('S') == Verdict::turns);
    CHECK(watch.look('S') == Verdict::ask);
    CHECK(Watch().until_it_stands('S') >= limit + limit / 2);
    CHECK(Watch().until_it_stands('S') <= limit + limit * 3 / 4);
}

TEST_CASE("standstill: a thread that answers when it is asked never stands") {
    Watch watch;
    for (int i = 0; i < 100; ++i) {
        const Verdict verdict = watch.look('S');
        CHECK(verdict != Verdict::stands);
        if (verdict == Verdict::ask) watch.turn();
    }
}

TEST_CASE("standstill: a turn makes good what was counted") {
    Watch watch;
    for (int i = 0; i < 100; ++i) {
        watch.turn();
        watch.look('T');
        CHECK_FALSE(watch.stands_within(6, 'T'));
    }
}

TEST_CASE("standstill: what runs on a core without a turn counts as far as it has run") {
    Watch watch;
    watch.turn();
    watch.look('R');
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
    watch.turn();
    watch.look('R');
    watch.run(milliseconds(1));
    watch.look('R');
    watch.run(protocol::seconds(10));
    CHECK(watch.look('R') != Verdict::stands);
}

TEST_CASE("standstill: who waits for a core, or of whom it is not known, never stands") {
    CHECK(Watch().until_it_stands('R') == Duration{0});
    Watch waiting;
    waiting.run(milliseconds(3));
    CHECK(waiting.until_it_stands('R') == Duration{0});
    for (const char state : {'Z', 'X', 'I', '?', Standstill::excused})
        CHECK(Watch().until_it_stands(state) == Duration{0});
}

TEST_CASE("standstill: an interval at whose end the watcher was late does not count") {
    Watch watch;
    watch.turn();
    watch.look('T');
    CHECK_FALSE(watch.stands_within(100, 'T', milliseconds(6)));
    CHECK_FALSE(watch.stands_within(7, 'T'));
    CHECK_FALSE(watch.stands_within(10, 'T', milliseconds(6)));
    CHECK(watch.stands_within(1, 'T'));
}

TEST_CASE("standstill: who is on the point of going on is not killed for what was before") {
    Watch watch;
    watch.turn();
    watch.look('T');
    CHECK_FALSE(watch.stands_within(6, 'T'));
    CHECK_FALSE(watch.stands_within(5, 'R'));
    // The state at the last look counts for no more than a moment.
    CHECK_FALSE(watch.stands_within(1, 'T'));
    CHECK(watch.stands_within(1, 'T'));
}

}  // namespace bullring::standstill_test
