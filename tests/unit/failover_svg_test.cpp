// The picture of one change of leader: what it says, and that it stays small whatever it is given.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/diagram/failover.hpp"
#include "protocol/diagram/record.hpp"
#include "sim/diagram/trace_reader.hpp"
#include "tests/support/watched_failovers.hpp"
#include "tests/support/xml_fault.hpp"

namespace bullring::protocol::diagram::failover_svg_test {
namespace {

std::vector<TraceRecord> records_of(const Failover& failover) {
    std::vector<TraceRecord> records;
    for (const TraceItem& item : failover.items) records.push_back(record_of(item));
    return records;
}

FailoverStory story() {
    FailoverStory story;
    story.node = 1;
    story.from = 3;
    story.to = 2;
    story.epoch = 8;
    story.lost_ns = 1'000'000;
    story.found_ns = 3'500'000;
    story.quorum = "majority";
    return story;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("failover picture: a record in memory is what its line in a file is read as") {
    for (const std::string algorithm : {"bully", "ring"}) {
        test::WatchedFailovers cluster(
            algorithm, 5,
            "at +0s expect leader within 5s\nat +2s crash leader\nat +0s expect leader 4 within "
            "1s\n"
            "at +1s resign 4\nat +1us expect leader within 1s\nat +1s wait 0s\n");
        for (const std::uint64_t node : {1U, 2U, 3U, 4U}) {
            for (const auto& failover : cluster.of(node)) {
                sim::diagram::TraceReader reader;
                reader.add_file(failover_lines(*failover), "memory");
                const Trace read = reader.take();
                const std::vector<TraceRecord> kept = records_of(*failover);
                REQUIRE(read.records.size() == kept.size());
                for (std::size_t i = 0; i < kept.size(); ++i) {
                    const TraceRecord& a = read.records[i];
                    const TraceRecord& b = kept[i];
                    CAPTURE(a.kind);
                    CHECK(a.t_ns == b.t_ns);
                    CHECK(a.what == b.what);
                    CHECK(a.kind == b.kind);
                    CHECK(a.node == b.node);
                    CHECK(a.incarnation == b.incarnation);
                    CHECK(a.peer == b.peer);
                    CHECK(a.peer_incarnation == b.peer_incarnation);
                    CHECK(a.session == b.session);
                    CHECK(a.index == b.index);
                    CHECK(a.renew == b.renew);
                    CHECK(a.owner == b.owner);
                    CHECK(a.round == b.round);
                    CHECK(a.step == b.step);
                    CHECK(a.epoch == b.epoch);
                    CHECK(a.leader == b.leader);
                    CHECK(a.grants == b.grants);
                    CHECK(a.word == b.word);
                    CHECK(a.detail == b.detail);
                    CHECK(a.lease_left_ns == b.lease_left_ns);
                }
            }
        }
    }
}

TEST_CASE("failover picture: it tells who led, who leads, how long nobody did, and who saw it") {
    const std::string svg = failover_svg({}, story());
    CHECK(test::xml_fault(svg) == "");
    CHECK(has(svg, "node 3 → node 2"));
    CHECK(has(svg, "2.5 ms without a leader, epoch 8"));
    CHECK(has(svg, "as node 1 saw it"));
}

TEST_CASE("failover picture: it fits a screen, and its style may stand elsewhere") {
    const std::string alone = failover_svg({}, story());
    CHECK(has(alone, "viewBox=\"0 0 360 "));
    CHECK(!has(alone, "<svg width"));
    CHECK(has(alone, "prefers-color-scheme:dark"));
    const std::string part = failover_svg({}, story(), StyleSheet::outside);
    CHECK(!has(part, "<style"));
    CHECK(!has(part, "style=\""));
    CHECK(has(failover_style(), "prefers-color-scheme:dark"));
}

TEST_CASE("failover picture: several have one legend in common, which explains all of them") {
    test::WatchedFailovers cluster("bully", 3,
                                   "at +0s expect leader 3 within 5s\nat +2s crash 3\n"
                                   "at +0s expect leader 2 within 1s\nat +2s wait 0s\n");
    std::vector<DrawnFailover> told;
    for (const auto& failover : cluster.of(1)) told.push_back({records_of(*failover), story()});
    REQUIRE(told.size() == 2);
    const std::string legend = failover_legend_svg(told);
    CHECK(test::xml_fault(legend) == "");
    CHECK(has(legend, "viewBox=\"0 0 360 "));
    const std::string meaning = "as far as this node knows</text>";
    for (const DrawnFailover& one : told) {
        const std::string alone = failover_svg(one.records, one.story);
        const std::string bare =
            failover_svg(one.records, one.story, StyleSheet::inside, LegendPlace::nowhere);
        CHECK(test::xml_fault(bare) == "");
        CHECK(has(alone, meaning));
        CHECK(!has(bare, meaning));
        CHECK(has(legend, meaning));
        CHECK(bare.size() < alone.size());
        // Every entry in the legend of one picture is in that of all.
        for (std::size_t at = 0; (at = alone.find("class=\"strong\"", at)) != alone.npos; ++at) {
            const std::size_t begin = alone.find('>', at);
            CHECK(has(legend, alone.substr(begin, alone.find('<', begin) - begin)));
        }
    }
    CHECK(!has(failover_legend_svg({}), meaning));
}

TEST_CASE("failover picture: it is small and well-formed, whatever the records tell") {
    std::vector<TraceRecord> records;
    const std::string noise = "</text>\xFF<script>\xEF\xBF\xBF" + std::string(100'000, '"');
    for (std::size_t i = 0; i < 5'000; ++i) {
        TraceRecord record;
        record.what = static_cast<RecordKind>(i % 3);
        record.t_ns = i % 7 == 0 ? INT64_MAX : i % 11 == 0 ? INT64_MIN : static_cast<int>(i * i);
        const char* const kinds[] = {"ELECTION", "COORDINATOR", "NACK",   "leader",
                                     "role",     "peer_down",   "\x01<b>"};
        record.kind = kinds[i % 7];
        record.node = i % 5 == 0 ? i : 1;
        record.peer = i * 7'919;
        record.leader = i;
        record.epoch = i * i * i;
        record.incarnation = i % 13;
        record.session = i % 3;
        record.index = i;
        record.word = i % 2 == 0 ? "candidate" : noise;
        if (i % 100 == 0) record.detail = noise;
        records.push_back(record);
    }
    FailoverStory wild = story();
    wild.lost_ns = INT64_MIN;
    wild.found_ns = INT64_MAX;
    const std::string svg = failover_svg(records, wild);
    CHECK(svg.size() < 400'000);
    CHECK(test::xml_fault(svg) == "");
    CHECK(!has(svg, "<script"));
    CHECK(!has(svg, "nan"));
    CHECK(!has(svg, "inf"));
    CHECK(has(svg, "more, left out"));
}

}  // namespace bullring::protocol::diagram::failover_svg_test
