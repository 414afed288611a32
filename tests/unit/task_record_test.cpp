// The memory that a node has of its work as the leader.
#include "src/node/report/task_record.hpp"

#include <doctest/doctest.h>

namespace bullring::task_record_test {

using protocol::Instant;
using protocol::seconds;

TEST_CASE("task record: how long it runs or does not, and the last end that nobody asked for") {
    const Instant noon{1'000'000'000, 2'000'000'000};
    TaskRecord record(noon);
    CHECK(record.shown(noon + seconds(2)) == ShownTask{false, 2'000, 0, "", 0, 0});
    record.began(noon + seconds(3));
    CHECK(record.shown(noon + seconds(5)) == ShownTask{true, 2'000, 1, "", 0, 0});
    record.ended(noon + seconds(6), "exit 1");
    CHECK(record.shown(noon + seconds(7)) == ShownTask{false, 1'000, 1, "exit 1", 1'000, 0});
    record.began(noon + seconds(8));
    record.ended(noon + seconds(9), "");  // as it was asked to
    CHECK(record.shown(noon + seconds(10)) == ShownTask{false, 1'000, 2, "exit 1", 4'000, 0});
    // It does not even begin.
    record.ended(noon + seconds(11), "it cannot be started");
    CHECK(record.shown(noon + seconds(12)) ==
          ShownTask{false, 3'000, 2, "it cannot be started", 1'000, 0});
    record.lead_commands(2);
    CHECK(record.shown(noon + seconds(12)).lead_commands == 2);
}

}  // namespace bullring::task_record_test
