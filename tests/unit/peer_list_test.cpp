#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "src/base/text/endpoint.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::peer_list_test {

namespace {

using bullring::parse_peers;
using bullring::ParsedPeers;
using bullring::PeerList;
using bullring::protocol::NodeId;

struct Wrong {
    const char* text;
    const char* why;
};

bool one_names(const ParsedPeers& parsed, const std::string& why) {
    return std::any_of(parsed.problems.begin(), parsed.problems.end(),
                       [&](const std::string& p) { return p.find(why) != std::string::npos; });
}

std::string list_of(int members) {
    std::string text;
    for (int i = 1; i <= members; ++i) {
        text += std::to_string(i) + "=h:" + std::to_string(7000 + i) + ",";
    }
    return text;
}

}  // namespace

TEST_CASE("peer list: entries are separated by commas or lines, with comments and blanks around") {
    const PeerList expected{{NodeId{1}, {"10.0.0.1", 7100}},
                            {NodeId{2}, {"b", 7100}},
                            {NodeId{9223372036854775807U}, {"::1", 7100}}};
    for (const char* text : {
             "1=10.0.0.1:7100,2=b:7100,9223372036854775807=[::1]:7100",
             "9223372036854775807=[::1]:7100,2=b:7100,1=10.0.0.1:7100,",
             " 1 = 10.0.0.1:7100 , 2 = b:7100 ,9223372036854775807=[::1]:7100 ",
             "# members\n1=10.0.0.1:7100\n\n  2=b:7100  # the second\r\n"
             "9223372036854775807=[::1]:7100\n",
         }) {
        CAPTURE(text);
        const ParsedPeers parsed = parse_peers(text);
        CHECK(parsed.problems.empty());
        CHECK(parsed.peers == expected);
    }
}

TEST_CASE("peer list: each kind of mistake is named with its value") {
    for (const Wrong& wrong : {
             Wrong{"", "the peer list is empty; expected ID=HOST:PORT"},
             Wrong{"# nobody\n", "the peer list is empty"},
             Wrong{"x=h:1", "ID \"x\" is not a number"},
             Wrong{"1x=h:1", "ID \"1x\" is not a number"},
             Wrong{"1.5=h:1", "ID \"1.5\" is not a whole number"},
             Wrong{"+1=h:1", "ID \"+1\" is not a number"},
             Wrong{"=h:1", "ID \"\" is not a number"},
             Wrong{"-=h:1", "ID \"-\" is not a number"},
             Wrong{"0=h:1", "ID \"0\" is zero"},
             Wrong{"-3=h:1", "ID \"-3\" is negative"},
             Wrong{"-99999999999999999999=h:1", "is negative"},
             Wrong{"9223372036854775808=h:1", "ID \"9223372036854775808\" is too large"},
             Wrong{"99999999999999999999=h:1", "ID \"99999999999999999999\" is too large"},
             Wrong{"1=h:1,2=g:1,1=f:1", "ID 1 is used twice, at h:1 and at f:1"},
             Wrong{"1=h:1,2=h:1", "address h:1 is used twice, for members 1 and 2"},
             Wrong{"1=h:1,2=H:1", "address H:1 is used twice"},
             Wrong{"1=[::1]:1,2=[0:0:0:0:0:0:0:1]:1", "is used twice, for members 1 and 2"},
             Wrong{"1=h:70000", "port \"70000\" is out of range"},
             Wrong{"1=h:0", "port \"0\" is out of range"},
             Wrong{"1=h", "has no port"},
             Wrong{"1=", "is empty; expected HOST:PORT"},
             Wrong{"h:1", "entry \"h:1\" has no ID; expected ID=HOST:PORT"},
             Wrong{"1=h:1,,2=g:1", "entry 2 is empty"},
             Wrong{"1=h:1;2=g:1",
                   "has a blank or a semicolon in it; entries are separated by commas"},
             Wrong{"1=h:1 2=g:1",
                   "has a blank or a semicolon in it; entries are separated by commas"},
             Wrong{"1=7100", "\"7100\": it is a number alone; expected HOST:PORT"},
             Wrong{"1=tcp://h:7100", "it is a URL; expected HOST:PORT, without \"tcp://\""},
         }) {
        CAPTURE(wrong.text);
        const ParsedPeers parsed = parse_peers(wrong.text);
        REQUIRE(parsed.problems.size() == 1);
        CAPTURE(parsed.problems.front());
        CHECK(one_names(parsed, wrong.why));
    }
}

TEST_CASE("peer list: all mistakes of a list are reported, and its sound entries are kept") {
    const ParsedPeers parsed = parse_peers("1=h:1,x=g:1,0=h,3=k:99999,4=m:1");
    CHECK(parsed.problems.size() == 4);
    CHECK(one_names(parsed, "ID \"x\""));
    CHECK(one_names(parsed, "ID \"0\""));
    CHECK(one_names(parsed, "\"h\": it has no port"));
    CHECK(one_names(parsed, "\"99999\""));
    CHECK(ids_text(parsed.peers) == "1, 4");
}

TEST_CASE("peer list: 64 members are a cluster, 65 are not") {
    CHECK(parse_peers(list_of(64)).problems.empty());
    const ParsedPeers parsed = parse_peers(list_of(65));
    REQUIRE(parsed.problems.size() == 1);
    CHECK(one_names(parsed, "has 65 members; at most 64"));
}

TEST_CASE("peer list: @FILE is read from the file, whose name stands before its mistakes") {
    const bullring::test::TemporaryFile file("# three\n1=a:1\n2=b:1 # second\n3=c:1\n");
    const ParsedPeers parsed = bullring::read_peers("@" + file.path());
    CHECK(parsed.problems.empty());
    CHECK(ids_text(parsed.peers) == "1, 2, 3");

    const bullring::test::TemporaryFile wrong("1=a:1\n2=b\n");
    const ParsedPeers refused = bullring::read_peers("@" + wrong.path());
    REQUIRE(refused.problems.size() == 1);
    CHECK(refused.problems.front().starts_with(wrong.path() + " line 2: entry \"2=b\""));
}

TEST_CASE("peer list: a file that can't be read is a mistake that names it") {
    CHECK(one_names(bullring::read_peers("@"), "\"@\" names no file"));
    const ParsedPeers missing = bullring::read_peers("@/no/such/file");
    CHECK(one_names(missing, "\"/no/such/file\" can't be read: No such file or directory"));
    CHECK(one_names(bullring::read_peers("@/"), "\"/\" can't be read: Is a directory"));
}

}  // namespace bullring::peer_list_test
