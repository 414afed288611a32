// The pictures: well-formed, complete, readable on any paper; and the export to ShiViz.
#include <cctype>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "protocol/diagram/svg_text.hpp"
#include "protocol/diagram/time_scale.hpp"
#include "sim/diagram/diagram.hpp"
#include "sim/diagram/trace_reader.hpp"
#include "tests/support/trace_lines.hpp"
#include "tests/support/xml_fault.hpp"

namespace bullring::sim::diagram::diagram_svg_test {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string picture(const test::TraceLines& lines, DiagramOptions options = {}) {
    return draw(lines.lines, options).text;
}

}  // namespace

TEST_CASE("diagram: a picture is well-formed and needs nothing from elsewhere") {
    const std::string svg = picture(test::failover());
    CHECK(test::xml_fault(svg) == "");
    CHECK(!has(svg, "<script"));
    CHECK(!has(svg, "href"));
    CHECK(!has(svg, "@import"));
    CHECK(!has(svg, "nan"));
    CHECK(!has(svg, "inf"));
}

TEST_CASE("diagram: the test of well-formed pictures can fail") {
    CHECK(test::xml_fault("<a><b></a></b>") != "");
    CHECK(test::xml_fault("<a>1 & 2</a>") != "");
    CHECK(test::xml_fault("<a b=c/>") != "");
    CHECK(test::xml_fault("<a>") != "");
    CHECK(test::xml_fault("<a>1 < 2</a>") != "");
    CHECK(test::xml_fault("<a b=\"1\">&amp;<c/></a>") == "");
}

TEST_CASE("diagram: a failover is told in the title, its messages in the legend") {
    const std::string svg = picture(test::failover());
    CHECK(has(svg, ">Bully, 3 nodes: node 3 dies, node 2 leads 1 ms later</text>"));
    CHECK(has(svg, "a voter&apos;s promise") == false);
    CHECK(has(svg, "<tspan class=\"strong\">COORDINATOR</tspan>"));
    CHECK(has(svg, "<tspan class=\"strong\">GRANT</tspan>"));
    CHECK(has(svg, "<tspan class=\"strong\">FIN</tspan>"));
    CHECK(!has(svg, "<tspan class=\"strong\">TOKEN</tspan>"));
    CHECK(!has(svg, "<tspan class=\"strong\">HB</tspan>"));
    CHECK(has(svg, "starts election"));
    CHECK(has(svg, "follows 2"));
}

TEST_CASE("diagram: heartbeats are drawn when they are wished") {
    DiagramOptions options;
    options.heartbeats = true;
    options.from_ns = 0;
    const std::string svg = picture(test::failover(), options);
    CHECK(test::xml_fault(svg) == "");
    CHECK(has(svg, "<tspan class=\"strong\">HB</tspan>"));
    CHECK(has(svg, "<tspan class=\"strong\">renewals</tspan>"));
}

TEST_CASE("diagram: a theme is the browser's choice unless it is given") {
    DiagramOptions options;
    CHECK(has(picture(test::failover(), options), "prefers-color-scheme:dark"));
    options.theme = Theme::light;
    const std::string light = picture(test::failover(), options);
    CHECK(!has(light, "prefers-color-scheme"));
    CHECK(has(light, "#ffffff"));
    options.theme = Theme::dark;
    const std::string dark = picture(test::failover(), options);
    CHECK(!has(dark, "prefers-color-scheme"));
    CHECK(!has(dark, "#ffffff"));
}

TEST_CASE("diagram: what a user or a peer wrote can't break the picture") {
    DiagramOptions options;
    options.title = "<b> & \"c\" \xFF\x01";
    test::TraceLines lines = test::failover();
    lines.message(101'300, 1, 101'350, 2, protocol::Refused{"</title>", "a & b", "\xFF<script>"});
    const std::string svg = picture(lines, options);
    CHECK(test::xml_fault(svg) == "");
    CHECK(has(svg, "&lt;b&gt; &amp; &quot;c&quot;"));
    CHECK(!has(svg, "<script"));
}

TEST_CASE("diagram: all kinds of marks and messages together make a picture") {
    test::TraceLines lines = test::failover();
    lines.event(101'500, 1, "pause");
    lines.event(101'900, 1, "resume");
    lines.event(102'000, 2, "disk");
    lines.event(102'000, 2, "something_new");
    protocol::TraceMark link;
    link.peer = {2};
    lines.event(102'100, 1, "cut", link);
    lines.event(102'200, 1, "heal", link);
    protocol::TraceMark role;
    role.role = protocol::Role::stepping_down;
    lines.event(102'300, 2, "role", role);
    role.role = protocol::Role::follower;
    lines.event(102'400, 2, "role", role);
    lines.of_epoch(102'400, 2, "deposed", 8);
    std::int64_t at = 102'500;
    const std::vector<protocol::Message> messages{
        protocol::Election{}, protocol::Ok{},       protocol::Decline{},
        protocol::LeaderIs{}, protocol::Nack{},     protocol::Resign{},
        protocol::Token{},    protocol::TokenAck{}, protocol::CoordinatorToken{}};
    for (const protocol::Message& message : messages) {
        lines.message(at, 1, at + 50, 2, message);
        at += 20;
    }
    DiagramOptions options;
    options.from_ns = 99'000'000;
    options.to_ns = 103'000'000;
    const std::string svg = picture(lines, options);
    CHECK(test::xml_fault(svg) == "");
    for (const char* name : {"ELECTION", "OK", "DECLINE", "LEADER", "NACK", "RESIGN", "TOKEN",
                             "TACK", "CTOKEN", "stands still", "cut, healed", "gives up"}) {
        CAPTURE(name);
        CHECK(has(svg, std::string("<tspan class=\"strong\">") + name + "</tspan>"));
    }
    CHECK(has(svg, "something new"));
}

TEST_CASE("diagram: a single line makes a picture, too") {
    test::TraceLines lines;
    lines.event(1, 1, "peer_up");
    CHECK(test::xml_fault(picture(lines)) == "");
}

TEST_CASE("diagram: a window that holds nothing is refused") {
    DiagramOptions options;
    options.from_ns = 10'000'000'000;
    CHECK_THROWS_AS(picture(test::failover(), options), DiagramError);
    options.from_ns = 5'000'000;
    options.to_ns = 4'000'000;
    CHECK_THROWS_AS(picture(test::failover(), options), DiagramError);
}

TEST_CASE("diagram: ShiViz gets its expression and clocks that count one by one") {
    DiagramOptions options;
    options.format = DiagramFormat::shiviz;
    const std::string log = picture(test::failover(), options);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = log.find('\n', at);
        lines.push_back(log.substr(at, end - at));
        at = end + 1;
    }
    REQUIRE(lines.size() > 10);
    CHECK(lines[0] == R"((?<host>\S*) (?<clock>{.*})\n(?<event>.*))");
    CHECK(lines[1] == "");
    CHECK(lines.size() % 2 == 0);
    std::map<std::string, std::uint64_t> last;
    for (std::size_t i = 2; i < lines.size(); i += 2) {
        const std::size_t space = lines[i].find(' ');
        const std::string host = lines[i].substr(0, space);
        const auto clock = nlohmann::json::parse(lines[i].substr(space + 1));
        CHECK(clock.at(host) == ++last[host]);
        for (const auto& [other, count] : clock.items()) {
            CAPTURE(lines[i]);
            CHECK(count.get<std::uint64_t>() <= last[other]);
        }
    }
    CHECK(last.size() == 3);
}

TEST_CASE("time scale: a stretch in which nothing happens is folded, all else keeps its measure") {
    ScaleWish wish;
    wish.from = 0;
    wish.to = 500'000'000;
    wish.left = 100;
    wish.right = 1100;
    wish.instants = {1'000'000, 490'000'000, 490'200'000, 490'400'000};
    wish.flights = {200'000, 200'000};
    const TimeScale scale(wish);
    CHECK(scale.folded());
    CHECK(scale.x(0) == doctest::Approx(100));
    CHECK(scale.x(500'000'000) == doctest::Approx(1100));
    const double flight = scale.x(490'200'000) - scale.x(490'000'000);
    CHECK(flight > 14);
    CHECK(scale.x(490'400'000) - scale.x(490'200'000) == doctest::Approx(flight));
    double before = 0;
    for (std::int64_t at = 0; at <= 500'000'000; at += 1'000'000) {
        CHECK(scale.x(at) > before);
        before = scale.x(at);
    }
    wish.mode = ScaleMode::linear;
    CHECK(!TimeScale(wish).folded());
}

TEST_CASE("time scale: ticks do not touch each other and name round times") {
    ScaleWish wish;
    wish.to = 3'700'000;
    wish.left = 100;
    wish.right = 1100;
    const std::vector<Tick> ticks = TimeScale(wish).ticks(700'000);
    REQUIRE(ticks.size() >= 4);
    CHECK(ticks[0].text == "-0.5");
    CHECK(ticks[1].text == "0.0");
    for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(ticks[i].x - ticks[i - 1].x > 40);
}

TEST_CASE("labels: the first place that is free is taken, and then it is not free") {
    Labels labels({0, 0, 100, 100});
    const Box a{10, 10, 30, 20};
    const Box b{40, 10, 60, 20};
    CHECK(labels.place({a, b}));
    CHECK(!labels.is_free(a));
    CHECK(labels.place({a, b})->left == 40);
    CHECK(!labels.place({a, b}));
    CHECK(!labels.is_free({90, 10, 110, 20}));
}

}  // namespace bullring::sim::diagram::diagram_svg_test
