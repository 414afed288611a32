// The library's members: what a node tells of them, and how a program changes them.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <bullring/bullring.h>
#include <bullring/bullring.hpp>
#include <doctest/doctest.h>

#include "tests/support/credentials.hpp"
#include "tests/support/library_cluster.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::library_members_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using std::chrono::nanoseconds;
using namespace test;

/// "1,2,3+4": those with a vote, and behind the + those without.
std::string text_of(const MemberList& list) {
    std::string voters;
    std::string others;
    for (const ListedMember& one : list.members)
        (one.votes ? voters : others) +=
            ((one.votes ? voters : others).empty() ? "" : ",") + std::to_string(one.id);
    return voters + (others.empty() ? "" : "+" + others);
}

/// Certificates of the cluster "bullring", in files.
class Certificates {
public:
    /// Of "node/1", "observer" …
    ObserverSecurity of(const std::string& role) const {
        const Credentials made = ca_.issue({.uris = {"bullring://bullring/" + role}});
        std::string stem = directory_ / role;
        std::replace(stem.begin() + static_cast<std::ptrdiff_t>(directory_.path().size()) + 1,
                     stem.end(), '/', '-');
        ObserverSecurity security;
        security.security = "tls";
        security.tls_cert = written(stem + ".pem", test::pem_of(made.chain.front()));
        security.tls_key = written(stem + ".key", test::pem_of(made.private_key));
        security.tls_ca = written(directory_ / "ca.pem", test::pem_of(ca_.certificate()));
        return security;
    }

private:
    static std::string written(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return path;
    }

    test::TestCa ca_;
    test::TemporaryDirectory directory_;
};

/// Three members that were started, and a fourth that is a member as soon as it is added.
struct Three {
    explicit Three(bool with_tls = false) {
        if (with_tls) observer = certificates.of("observer");
        for (std::uint64_t id = 1; id <= 4; ++id) {
            Options options = cluster.options(id);
            if (with_tls) secure(options, certificates.of("node/" + std::to_string(id)));
            if (id < 4) options.peers = cluster.peers(3);
            nodes.push_back(std::make_unique<Node>(options));
            if (id < 4) nodes.back()->start();
        }
    }
    Node& node(std::uint64_t id) const { return *nodes[id - 1]; }
    /// Some node that leads, or does not.
    Node& one_that(bool leads) const {
        const std::uint64_t id = leader();
        return node(leads ? id : id % 3 + 1);
    }
    std::uint64_t leader() const {
        const Observer watching(cluster.peers(3), "bullring", observer);
        return watching.wait_for_leader(generous).value().id;
    }
    /// With TLS of somebody who may only ask.
    Administrator administrator() const {
        return Administrator(cluster.peers(3), "bullring", observer);
    }
    static void secure(Options& options, const ObserverSecurity& with) {
        options.security = with.security;
        options.tls_cert = with.tls_cert;
        options.tls_key = with.tls_key;
        options.tls_ca = with.tls_ca;
        options.fast_release = FastRelease::off;  // no second process of a test's
    }

    Certificates certificates;
    ObserverSecurity observer;
    LibraryCluster cluster{4};
    std::vector<std::unique_ptr<Node>> nodes;
};

bool waits_for(const Node& node, const std::string& members) {
    const auto limit = std::chrono::steady_clock::now() + generous;
    while (text_of(node.members()) != members)
        if (std::chrono::steady_clock::now() > limit) return false;
    return true;
}

}  // namespace

TEST_CASE("library: an administrator adds a member, gives it a vote, and takes it out again") {
    const Three three;
    const Administrator administrator = three.administrator();
    CHECK(text_of(administrator.members()) == "1,2,3");
    CHECK(administrator.members().tag == "0.0");

    Notes<Change> changes;
    const Subscription subscription =
        three.node(1).subscribe([&](const Change& change) { changes.add(change); });
    CHECK(administrator.add(4, three.cluster.address(4), generous) == AdminAnswer{true, {}});
    const MemberList added = administrator.members();
    CHECK(text_of(added) == "1,2,3+4");
    CHECK(added.members[3] == ListedMember{4, three.cluster.address(4), false});
    CHECK(added.tag != "0.0");
    CHECK(administrator.add(4, three.cluster.address(4), generous).done);  // it is so already

    three.node(4).start();
    CHECK(administrator.promote(4, generous).done);
    CHECK(waits_for(three.node(4), "1,2,3,4"));
    CHECK(waits_for(three.node(1), "1,2,3,4"));
    CHECK(changes.wait_for([](const std::vector<Change>& all) {
        return std::count_if(all.begin(), all.end(), [](const Change& one) {
                   return one.kind == Change::Kind::members;
               }) >= 2;
    }));
    CHECK(administrator.demote(4, generous).done);
    CHECK(administrator.remove(4, generous).done);
    CHECK(text_of(administrator.members()) == "1,2,3");
}

TEST_CASE("library: a node joins a cluster that runs, and gets a vote") {
    const Three three;
    Options options = three.cluster.options(4);
    options.peers.clear();
    options.join = three.cluster.address(three.leader() % 3 + 1);
    options.listen = three.cluster.address(4);
    options.voter = true;
    Node node(options);
    node.start();
    CHECK(waits_for(node, "1,2,3,4"));
    CHECK(waits_for(three.node(1), "1,2,3,4"));
    node.stop();
    // It is one that was started before, and finds the others by its list.
    options.join = "127.0.0.1:1";
    Node again(options);
    again.start();
    CHECK(waits_for(again, "1,2,3,4"));
}

TEST_CASE("library: a node that asks nobody in particular, or in two ways, is not made") {
    Options options;
    options.id = 4;
    options.join = "127.0.0.1:1";
    CHECK(options.problems() ==
          std::vector<std::string>{"join: it needs listen HOST:PORT, where this node is to listen; "
                                   "0.0.0.0:PORT will do"});
    options.join_as = "127.0.0.1:2";
    CHECK(options.problems().empty());
    options.join_as.clear();
    options.listen = "127.0.0.1:2";
    CHECK(options.problems().empty());
    options.join.clear();
    options.peers = "4=127.0.0.1:2";
    options.voter = true;
    CHECK(options.problems() ==
          std::vector<std::string>{"voter: it needs join HOST:PORT, which is not given"});
}

TEST_CASE("library: a node changes the members whether it leads or not") {
    const Three three;
    for (const bool leads : {true, false}) {
        CAPTURE(leads);
        const Administrator administrator = three.one_that(leads).administrator();
        CHECK(administrator.add(4, three.cluster.address(4), generous).done);
        CHECK(text_of(administrator.members()) == "1,2,3+4");
        CHECK(administrator.change_address(4, "127.0.0.1:1", generous).done);
        CHECK(administrator.members().members[3].address == "127.0.0.1:1");
        CHECK(administrator.remove(4, generous).done);
    }
}

TEST_CASE("library: with tls a node changes the members while it leads, and an observer never") {
    const Three three(true);
    const std::uint64_t leader = three.leader();
    const Administrator follower = three.node(leader % 3 + 1).administrator();
    const AdminAnswer refused = follower.add(4, three.cluster.address(4), generous);
    CHECK_FALSE(refused.done);
    CHECK(refused.why.find("only an administrator may ask for that") != std::string::npos);
    CHECK(text_of(follower.members()) == "1,2,3");
    CHECK_FALSE(three.administrator().add(4, three.cluster.address(4), generous).done);
    const Administrator own = three.node(leader).administrator();
    CHECK(own.add(4, three.cluster.address(4), generous) == AdminAnswer{true, {}});
    CHECK(text_of(own.members()) == "1,2,3+4");
    CHECK(own.remove(4, generous).done);
}

TEST_CASE("library: a leader that is to be removed hands over first") {
    const Three three;
    const std::uint64_t id = three.leader();
    const Administrator administrator = three.node(id).administrator();
    CHECK(administrator.remove(id, generous).done);
    CHECK(administrator.members().members.size() == 2);
    CHECK(three.leader() != id);
}

TEST_CASE("library: an administrator hands over") {
    const Three three;
    const Administrator administrator = three.administrator();
    const std::uint64_t next = three.leader() % 3 + 1;
    CHECK(administrator.resign(next, generous) == AdminAnswer{true, {}});
    CHECK(three.leader() == next);
}

TEST_CASE("library: what can't be done is said, and within the time given") {
    const Three three;
    const Administrator administrator = three.administrator();
    CHECK(administrator.add(4, three.cluster.address(4), generous).done);
    const AdminAnswer deaf = administrator.promote(4, std::chrono::milliseconds(200));
    CHECK_FALSE(deaf.done);
    CHECK(deaf.why.find("4 is not connected") != std::string::npos);
    CHECK_FALSE(administrator.promote(4, nanoseconds(0)).done);
    CHECK_FALSE(administrator.promote(4, nanoseconds(-1)).done);
    CHECK_THROWS_WITH_AS(administrator.remove(0), doctest::Contains("1 … 9223372036854775807"),
                         ConfigError);
    CHECK_THROWS_WITH_AS(administrator.add(5, "nowhere"), doctest::Contains("nowhere"),
                         ConfigError);
    CHECK_THROWS_AS(Administrator("1=nowhere"), ConfigError);
    ObserverSecurity keyless;
    keyless.security = "key";
    CHECK_THROWS_AS(Administrator(three.cluster.peers(), "bullring", keyless), ConfigError);
    const Administrator stranger(three.cluster.peers(), "another");
    const MemberList none = stranger.members();
    CHECK(none.members.empty());
    CHECK(none.why.find("no member has told its list") != std::string::npos);
}

TEST_CASE("library: a node that does not run has no list, and can have it changed by the others") {
    const Three three;
    const LibraryCluster alone(1);
    const Node fresh(alone.options(1));
    CHECK(fresh.members().members.empty());
    CHECK(fresh.members().why == "the node is not running");
    Node& follower = three.one_that(false);
    const Administrator administrator = follower.administrator();
    follower.stop();
    CHECK(administrator.add(4, three.cluster.address(4), generous).done);
}

TEST_CASE("library: the same in C") {
    const LibraryCluster cluster(2);
    const std::string peers = cluster.peers(1);
    const std::string directory = cluster.directory() / "node-1";
    const char* const settings[] = {"id",   "1",        "peers",           peers.c_str(), "profile",
                                    "fast", "data-dir", directory.c_str(), nullptr};
    char error[256] = "";
    bullring_node* const node = bullring_open(settings, nullptr, error, sizeof error);
    REQUIRE_MESSAGE(node != nullptr, std::string(error));
    const auto change = [&](const char* what, std::uint64_t id, const char* address) {
        error[0] = '\0';
        return bullring_change_member(node, what, id, address, 60'000, error, sizeof error);
    };
    const std::string second = cluster.address(2);
    CHECK(change("add", 2, second.c_str()) == BULLRING_OK);
    bullring_change seen{};
    while (bullring_wait(node, 60'000, &seen) == BULLRING_OK && seen.kind != BULLRING_MEMBERS) {
    }
    CHECK(seen.kind == BULLRING_MEMBERS);
    bullring_member members[2];
    char tag[32] = "";
    CHECK(bullring_members(node, members, 2, tag, sizeof tag) == 2);
    CHECK(members[0].id == 1);
    CHECK(members[0].votes == 1);
    CHECK(members[1].id == 2);
    CHECK(members[1].votes == 0);
    CHECK(std::strcmp(members[1].address, second.c_str()) == 0);
    CHECK(std::strchr(tag, '.') != nullptr);
    CHECK(bullring_members(node, nullptr, 0, nullptr, 0) == 2);
    CHECK(bullring_members(node, members, 1, tag, 3) == 2);
    CHECK(std::strlen(tag) == 2);

    CHECK(change("add", 3, nullptr) == BULLRING_INVALID);
    CHECK(change("remove", 2, second.c_str()) == BULLRING_INVALID);
    CHECK(change("raise", 2, nullptr) == BULLRING_INVALID);
    CHECK(std::string(error).find("expected add, remove") != std::string::npos);
    CHECK(bullring_change_member(node, "promote", 2, nullptr, 100, error, sizeof error) ==
          BULLRING_REFUSED);
    CHECK(std::string(error).find("2 is not connected") != std::string::npos);
    CHECK(change("remove", 2, nullptr) == BULLRING_OK);
    CHECK(bullring_members(node, nullptr, 0, nullptr, 0) == 1);
    bullring_close(node);
}

TEST_SUITE_END();

}  // namespace bullring::library_members_test
