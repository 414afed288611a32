// One node's answer to `status`, written by the node and read back by the command.
#include "src/node/observers/status_json.hpp"

#include <utility>

#include <doctest/doctest.h>

#include "src/observe/status_report.hpp"

namespace bullring::status_json_test {
namespace {

StatusInput follower() {
    StatusInput input;
    input.view.members = protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {5}});
    input.view.self = {2};
    input.view.role = protocol::Role::follower;
    input.view.leader = {5};
    input.view.epoch = {7};
    input.view.lease_left = protocol::microseconds(411'001);
    input.view.promised_to = {5};
    input.view.list = protocol::Membership(
        {{6}, 2}, {{{1}, 0, true, "a:1"}, {{2}, 1, false, "b:1"}, {{5}, 2, true, ""}}, {{1}, {4}});
    input.view.connected.insert(0);
    input.view.connected.insert(2);
    input.view.why = "follows 5";
    input.cluster = "blue";
    input.algorithm = protocol::Algorithm::ring;
    input.address = "10.0.0.2:7100";
    input.advertised = "db-2";
    input.uptime_ms = 1234;
    input.version = "0.1.0";
    input.commit = "1a2b3c4d5e6f";
    input.wire = 2;
    input.view.versions = {1, 0, 2};
    input.view.cluster_id = {0xC1};
    input.security = "tls";
    input.priority = {-7};
    input.view.eligible = true;
    return input;
}

}  // namespace

TEST_CASE("status json: a follower has the keys of the contract in their order") {
    CHECK(
        node_status_json(follower()) ==
        R"({"cluster":"blue","algorithm":"ring","quorum":"majority","votes":true,"members":[1,2,5],"node":{"id":2,)"
        R"("address":"10.0.0.2:7100","reachable":true,"advertised":"db-2","role":"follower",)"
        R"("leader":5,"epoch":7,"lease_left_ms":412,"promised_to":5,"peers_up":[1,5],)"
        R"("why":"follows 5","uptime_ms":1234,"version":"0.1.0","commit":"1a2b3c4d5e6f","wire":2,"wire_lowest":3,"wire_with":{"1":1,"5":2},)"
        R"("members_tag":"6.2","founders":[1,4],"cluster_id":"00000000000000c1","members":[{"id":1,"address":"a:1","vote":true},)"
        R"({"id":2,"address":"b:1","vote":false},{"id":5,"address":"","vote":true}],)"
        R"("security":"tls",)"
        R"("priority":-7,"eligible":true,"healthy":true,"wrong":null,"mode":"node"}})");
}

TEST_CASE("status json: keys are told by their IDs, and read back") {
    StatusInput input = follower();
    input.credential.shown.key = "0b22c1d3";
    input.credential.accepts = {"0b22c1d3", "3f6a12aa"};
    input.credential.observer_keys = {"11111111"};
    ShownCredential shown;
    shown.key = "3f6a12aa";
    input.sessions.peers = {{{1}, {true, shown, "0b22c1d3"}}, {{5}, {false, {}, ""}}};
    input.sessions.callers = {{"an administrator", "10.0.0.7:41232", shown, 2}};
    const std::string told = node_status_json(input);
    CHECK(told.find(
              R"("mode":"node","credential":{"key":"0b22c1d3","accepts":["0b22c1d3","3f6a12aa"],)"
              R"("observer_keys":["11111111"]},"peer_credentials":{"1":{"key":"3f6a12aa",)"
              R"("dialled_with":"0b22c1d3"},"5":null},"callers":[{"who":"an administrator",)"
              R"("from":"10.0.0.7:41232","connections":2,"key":"3f6a12aa"}]}})") !=
          std::string::npos);
    const auto answer = parse_node_answer(told).value();
    CHECK(answer.credential == input.credential);
    CHECK(answer.sessions == input.sessions);
    CHECK(parse_node_answer(node_status_json(follower()))->credential == OwnCredential{});
}

TEST_CASE("status json: a leader's work and what is wrong with a node are told, and read back") {
    StatusInput input = follower();
    CHECK(parse_node_answer(node_status_json(input))->task == std::nullopt);
    input.view.healthy = false;
    input.view.wrong = "unhealthy: exit 1 of health command";
    input.task = ShownTask{true, 61'000, 2, "exit 1", 61'500, 0};
    CHECK(parse_node_answer(node_status_json(input))->task == std::nullopt);
    input.mode = "run";
    const std::string told = node_status_json(input);
    CHECK(told.find(R"("healthy":false,"wrong":"unhealthy: exit 1 of health command","mode":"run",)"
                    R"("task":{"running":true,"for_ms":61000,"starts":2,"last_end":"exit 1",)"
                    R"("last_end_ago_ms":61500}}})") != std::string::npos);
    const auto answer = parse_node_answer(told).value();
    CHECK(answer.healthy == false);
    CHECK(answer.wrong == input.view.wrong);
    CHECK(answer.mode == "run");
    CHECK(answer.task == input.task);

    input.mode = "node";
    input.task = ShownTask{false, 0, 0, "", 0, 3, 2, ShownHolder{47, "python3", 61'000}};
    CHECK(parse_node_answer(node_status_json(input))->task == input.task);
    input.task->holder.reset();
    CHECK(parse_node_answer(node_status_json(input))->task == input.task);
    input.mode = "address";
    CHECK(parse_node_answer(node_status_json(input))->task == input.task);
}

TEST_CASE("status json: a task of another kind is an error") {
    StatusInput input = follower();
    input.mode = "run";
    input.task = ShownTask{true, 61'000, 2, "exit 1", 61'500, 0};
    for (const auto& [right, wrong] : {std::pair{"\"running\":true", "\"running\":1"},
                                       {"61000", "-1"},
                                       {"61500", "\"soon\""},
                                       {"\"exit 1\"", "1"},
                                       {"\"starts\"", "\"begun\""}}) {
        CAPTURE(wrong);
        std::string told = node_status_json(input);
        told.replace(told.find(right), std::string(right).size(), wrong);
        CHECK(!parse_node_answer(told));
    }
}

TEST_CASE("status json: certificates are told by what tells them apart, and read back") {
    StatusInput input = follower();
    const ShownCa ca{"CN=ca", "AB01"};
    input.credential.shown = {"", "4A", "CN=node 2", ca, "2027-11-24T08:27:11Z"};
    input.credential.trusts = {ca, {"CN=next", ""}};
    input.credential.revocations = {"list 2 of CN=ca"};
    input.sessions.peers = {{{1}, {true, {"", "4B", "CN=node 1", ca, "2027-11-24T08:27:12Z"}, ""}}};
    const std::string told = node_status_json(input);
    CHECK(told.find(R"("credential":{"certificate":"4A","subject":"CN=node 2","issuer":{)"
                    R"("name":"CN=ca","key":"AB01"},"not_after":"2027-11-24T08:27:11Z","trusts":[)"
                    R"({"name":"CN=ca","key":"AB01"},{"name":"CN=next","key":""}],"revocations":[)"
                    R"("list 2 of CN=ca"]},"peer_credentials":{"1":{"certificate":"4B",)") !=
          std::string::npos);
    const auto answer = parse_node_answer(told).value();
    CHECK(answer.credential == input.credential);
    CHECK(answer.sessions == input.sessions);
}

TEST_CASE("status json: nobody is null, and a lease that is over has no time left") {
    StatusInput input = follower();
    input.view.leader = {};
    input.view.promised_to = {};
    input.view.lease_left = {-5};
    input.view.connected = {};
    input.quorum = protocol::QuorumMode::none;
    const auto answer = parse_node_answer(node_status_json(input)).value();
    CHECK(answer.leader == protocol::nobody);
    CHECK(answer.promised_to == protocol::nobody);
    CHECK(answer.lease_left_ms == 0);
    CHECK(answer.peers_up.empty());
    CHECK(answer.quorum == "none");
}

TEST_CASE("status json: a node without a list has no founders, and they are read back") {
    StatusInput input = follower();
    CHECK(parse_node_answer(node_status_json(input))->founders ==
          std::vector<protocol::NodeId>{{1}, {4}});
    CHECK(parse_node_answer(node_status_json(input))->list.founders() ==
          std::vector<protocol::NodeId>{{1}, {4}});
    input.view.has_list = false;
    CHECK(parse_node_answer(node_status_json(input))->founders.empty());
    CHECK(node_status_json(input).find(R"("founders":null)") != std::string::npos);
}

TEST_CASE("status json: a node that steps down is shown as a follower") {
    StatusInput input = follower();
    const auto shown = [&](protocol::Role role) {
        input.view.role = role;
        return parse_node_answer(node_status_json(input))->role;
    };
    CHECK(shown(protocol::Role::stepping_down) == "follower");
    CHECK(shown(protocol::Role::follower) == "follower");
    CHECK(shown(protocol::Role::candidate) == "candidate");
    CHECK(shown(protocol::Role::leader) == "leader");
}

TEST_CASE("status json: a node that is silent after a restart says that it does not vote") {
    StatusInput input = follower();
    CHECK(parse_node_answer(node_status_json(input))->votes);
    input.view.recovering = true;
    CHECK_FALSE(parse_node_answer(node_status_json(input))->votes);
}

TEST_CASE("status json: an answer that does not say whether the node votes is no error") {
    std::string told = node_status_json(follower());
    const std::string key = R"("votes":true,)";
    REQUIRE(told.find(key) != std::string::npos);
    told.erase(told.find(key), key.size());
    const auto answer = parse_node_answer(told).value();
    CHECK(answer.votes);
}

TEST_CASE("status json: a priority is told as the command line takes it") {
    StatusInput input = follower();
    CHECK(parse_node_answer(node_status_json(input))->priority == protocol::Priority{-7});
    input.priority = protocol::Priority::never();
    const std::string told = node_status_json(input);
    CHECK(told.find(R"("priority":"never")") != std::string::npos);
    CHECK(parse_node_answer(told)->priority == protocol::Priority::never());
}

TEST_CASE("status json: whoever tells neither priority nor fitness, as 0.1.0, is understood") {
    std::string told = node_status_json(follower());
    const std::string keys = R"(,"priority":-7,"eligible":true)";
    REQUIRE(told.find(keys) != std::string::npos);
    told.erase(told.find(keys), keys.size());
    const auto answer = parse_node_answer(told).value();
    CHECK(!answer.priority);
    CHECK(!answer.eligible);
}

TEST_CASE("status json: a node that does not tell what it speaks speaks version 1") {
    std::string told = node_status_json(follower());
    const std::string keys = R"("wire":2,"wire_lowest":3,"wire_with":{"1":1,"5":2},)";
    REQUIRE(told.find(keys) != std::string::npos);
    told.erase(told.find(keys), keys.size());
    const auto answer = parse_node_answer(told).value();
    CHECK(answer.wire == 1);
    CHECK(answer.wire_with.empty());
}

TEST_CASE("status json: the list of members is read back with its tag, votes and addresses") {
    const auto answer = parse_node_answer(node_status_json(follower())).value();
    CHECK(answer.list.tag() == protocol::Tag{{6}, 2});
    CHECK(answer.list.ids() == std::vector<protocol::NodeId>{{1}, {2}, {5}});
    CHECK(answer.list.voters().size() == 2);
    CHECK(answer.list.find({2})->address == "b:1");
    CHECK_FALSE(answer.list.find({2})->votes);
}

TEST_CASE("status json: a list of members that cannot be one is none") {
    const std::string list =
        R"({"id":1,"address":"a:1","vote":true},{"id":2,"address":"b:1","vote":false})";
    for (const char* const wrong :
         {"", R"({"id":1,"address":"a:1","vote":false})",
          R"({"id":1,"address":"a:1","vote":true},{"id":1,"address":"b:1","vote":true})"}) {
        CAPTURE(wrong);
        std::string told = node_status_json(follower());
        REQUIRE(told.find(list) != std::string::npos);
        const std::size_t rest = std::string(R"(,{"id":5,"address":"","vote":true})").size();
        told.replace(told.find(list), list.size() + rest, wrong);
        const auto answer = parse_node_answer(told).value();
        CHECK(answer.list.empty());
    }
}

TEST_CASE("status json: a priority of another kind is an error") {
    for (const char* const wrong : {"\"high\"", "1.5", "null", "[]"}) {
        CAPTURE(wrong);
        std::string told = node_status_json(follower());
        told.replace(told.find(R"("priority":-7)"), 13, std::string(R"("priority":)") + wrong);
        CHECK(!parse_node_answer(told));
    }
}

TEST_CASE("status json: what is not UTF-8 is replaced instead of breaking the answer") {
    StatusInput input = follower();
    input.advertised = "\xFF\xFE";
    const auto answer = parse_node_answer(node_status_json(input)).value();
    CHECK(!answer.advertised.empty());
}

TEST_CASE("status json: what a node writes is read back whole") {
    const auto answer = parse_node_answer(node_status_json(follower())).value();
    CHECK(answer.cluster == "blue");
    CHECK(answer.algorithm == "ring");
    CHECK(answer.id == protocol::NodeId{2});
    CHECK(answer.advertised == "db-2");
    CHECK(answer.leader == protocol::NodeId{5});
    CHECK(answer.epoch == protocol::Epoch{7});
    CHECK(answer.lease_left_ms == 412);
    CHECK(answer.peers_up == std::vector<protocol::NodeId>{{1}, {5}});
    CHECK(answer.why == "follows 5");
    CHECK(answer.uptime_ms == 1234);
    CHECK(answer.version == "0.1.0");
    CHECK(answer.wire == 2);
    CHECK(answer.wire_with == std::map<protocol::NodeId, std::uint64_t>{{{1}, 1}, {{5}, 2}});
    CHECK(answer.security == "tls");
    CHECK(answer.eligible == true);
}

}  // namespace bullring::status_json_test
