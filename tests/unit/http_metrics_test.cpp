#include <doctest/doctest.h>

#include "src/http/metrics.hpp"

namespace bullring::http_metrics_test {
namespace {

using protocol::Instant;
using protocol::milliseconds;

constexpr Instant noon{1'000'000'000, 2'000'000'000};

struct Told {
    NodeState state;
    NodeCounts counts;
    LeaseSnapshot lease;
    Connected connected{{{{2}, protocol::microseconds(250)}}, {}};

    Told() {
        state.at = noon;
        state.status.view.self = {3};
        state.status.view.leader = {2};
        state.status.view.epoch = {7};
        state.status.view.lease_left = milliseconds(400);
        state.status.view.members = state.status.view.list =
            protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {3}});
        state.status.view.connected.insert(1);
        state.status.cluster = "a\"b";
        state.status.version = "1.2.3";
        state.status.commit = "1a2b";
        state.status.wire = 2;
        state.status.view.versions = {0, 1, 0};
        state.status.security = "key";
    }
    std::string text(MetricsFormat format = MetricsFormat::prometheus,
                     protocol::Duration later = {}) const {
        return metrics_text(format, {state, lease, noon + later}, counts, connected);
    }
};

bool has(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("http metrics: a credential is a series, and that of each peer another") {
    Told told;
    CHECK(told.text().find("credential") == std::string::npos);
    OwnCredential& own = told.state.status.credential;
    own.shown.key = "0b22c1d3";
    own.accepts = {"0b22c1d3", "3f6a12aa"};
    ShownCredential certificate;
    certificate.certificate = "4A";
    certificate.issuer = {"CN=ca", "AB01"};
    told.connected.credentials.peers = {
        {{1}, {false, {}, ""}}, {{2}, {true, certificate, ""}}, {{4}, {true, {}, ""}}};
    const std::string text = told.text();
    CHECK(has(text,
              "bullring_credential_info{kind=\"key\",id=\"0b22c1d3\",issuer=\"\",issuer_key=\"\"} "
              "1"));
    CHECK(has(text, "bullring_accepted_key_info{id=\"3f6a12aa\"} 1"));
    CHECK(has(text,
              "bullring_peer_credential_info{peer=\"1\",kind=\"none\",id=\"\",issuer=\"\","
              "issuer_key=\"\"} 1"));
    CHECK(has(text,
              "bullring_peer_credential_info{peer=\"2\",kind=\"certificate\",id=\"4A\","
              "issuer=\"CN=ca\",issuer_key=\"AB01\"} 1"));
    CHECK(text.find("peer=\"4\",kind") == std::string::npos);
}

TEST_CASE("http metrics: a follower tells whom it follows, and what is left of that lease now") {
    const std::string text = Told().text(MetricsFormat::prometheus, milliseconds(100));
    CHECK(has(text, "bullring_is_leader 0"));
    CHECK(has(text, "bullring_leader_id 2"));
    CHECK(has(text, "bullring_epoch 7"));
    CHECK(has(text, "bullring_lease_seconds_left 0.3"));
    CHECK(has(text, "bullring_role{role=\"follower\"} 1"));
    CHECK(has(text, "bullring_role{role=\"leader\"} 0"));
    CHECK(has(text, "leader_election_master_status{name=\"a\\\"b\"} 0"));
    CHECK(has(text, "bullring_peer_connected{peer=\"1\"} 0"));
    CHECK(has(text, "bullring_peer_connected{peer=\"2\"} 1"));
    CHECK(text.find("peer=\"3\"") == std::string::npos);
    CHECK(has(text, "bullring_wire_version 2"));
    CHECK(has(text, "bullring_peer_wire_version{peer=\"2\"} 1"));
    CHECK(text.find("bullring_peer_wire_version{peer=\"1\"}") == std::string::npos);
    CHECK(has(text, "bullring_peer_rtt_seconds{peer=\"2\"} 0.00025"));
    CHECK(has(text, "bullring_members{vote=\"yes\"} 3"));
    CHECK(has(text,
              "bullring_build_info{version=\"1.2.3\",commit=\"1a2b\",algorithm=\"bully\",security="
              "\"key\"} 1"));
}

TEST_CASE("http metrics: who leads is judged by the lease") {
    Told told;
    told.lease = {{8}, noon + milliseconds(500)};
    CHECK(has(told.text(), "bullring_is_leader 1"));
    CHECK(has(told.text(), "bullring_epoch 8"));
    CHECK(has(told.text(), "bullring_role{role=\"follower\"} 0"));
    const std::string late = told.text(MetricsFormat::prometheus, milliseconds(500));
    CHECK(has(late, "bullring_is_leader 0"));
    CHECK(has(late, "bullring_leader_id 0"));
}

TEST_CASE("http metrics: the time without a leader includes the present one") {
    Told told;
    told.counts.leaderless_ns.add(2'000'000'000);
    CHECK(has(told.text(), "bullring_leaderless_seconds_total 2"));
    told.counts.leaderless_since_ns.store(noon.boottime_ns);
    CHECK(has(told.text(MetricsFormat::prometheus, milliseconds(500)),
              "bullring_leaderless_seconds_total 2.5"));
    told.counts.leaderless_since_ns.store((noon + milliseconds(1)).boottime_ns);
    CHECK(has(told.text(), "bullring_leaderless_seconds_total 2"));
}

TEST_CASE("http metrics: a histogram is cumulative and ends with all") {
    Told told;
    told.counts.failovers.add(protocol::microseconds(700));
    told.counts.failovers.add(milliseconds(3));
    told.counts.failovers.add(protocol::seconds(100));
    const std::string text = told.text();
    CHECK(has(text, "bullring_failover_seconds_bucket{le=\"0.00025\"} 0"));
    CHECK(has(text, "bullring_failover_seconds_bucket{le=\"0.001\"} 1"));
    CHECK(has(text, "bullring_failover_seconds_bucket{le=\"0.005\"} 2"));
    CHECK(has(text, "bullring_failover_seconds_bucket{le=\"30\"} 2"));
    CHECK(has(text, "bullring_failover_seconds_bucket{le=\"+Inf\"} 3"));
    CHECK(has(text, "bullring_failover_seconds_count 3"));
    CHECK(text.find("bullring_failover_seconds_sum 100.0037") != std::string::npos);
}

TEST_CASE("http metrics: the first start of a task is no restart") {
    Told told;
    CHECK(has(told.text(), "bullring_task_running 0"));
    CHECK(has(told.text(), "bullring_task_restarts_total 0"));
    told.counts.task_runs(true);
    CHECK(has(told.text(), "bullring_task_running 1"));
    CHECK(has(told.text(), "bullring_task_restarts_total 0"));
    told.counts.task_runs(false);
    told.counts.task_runs(true);
    CHECK(has(told.text(), "bullring_task_restarts_total 1"));
}

TEST_CASE("http metrics: OpenMetrics names a counter's family without _total, and has an end") {
    Told told;
    told.counts.elections.add("won");
    const std::string text = told.text(MetricsFormat::open_metrics);
    CHECK(has(text, "# TYPE bullring_elections counter"));
    CHECK(has(text, "bullring_elections_total{result=\"won\"} 1"));
    CHECK(text.find("_total counter") == std::string::npos);
    CHECK(text.ends_with("\n# EOF\n"));
    CHECK(has(told.text(), "# TYPE bullring_elections_total counter"));
    CHECK(told.text().find("# EOF") == std::string::npos);
}

TEST_CASE("http metrics: OpenMetrics is told to who asks for it") {
    CHECK(metrics_format("") == MetricsFormat::prometheus);
    CHECK(metrics_format("text/plain;version=0.0.4;q=0.5,*/*;q=0.1") == MetricsFormat::prometheus);
    CHECK(metrics_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5") ==
          MetricsFormat::open_metrics);
}

}  // namespace
}  // namespace bullring::http_metrics_test
