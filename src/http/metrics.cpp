#include "src/http/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "src/base/os/process_figures.hpp"
#include "src/http/accept.hpp"

namespace bullring {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using protocol::Duration;

using Labels = std::vector<ClientMetric::Label>;

double in_seconds(Duration duration) { return static_cast<double>(duration.ns) * 1e-9; }
double number(bool is) { return is ? 1 : 0; }
template <class Number>
double number(Number n) {
    return static_cast<double>(n);
}

class Families {
public:
    MetricFamily& family(const char* name, const char* help, MetricType type) {
        return families_.emplace_back(MetricFamily{name, help, type, {}});
    }
    void gauge(const char* name, const char* help, double value, Labels labels = {}) {
        add(family(name, help, MetricType::Gauge), value, std::move(labels));
    }
    void counter(const char* name, const char* help, double value) {
        add(family(name, help, MetricType::Counter), value, {});
    }
    void counters(const char* name, const char* help, const char* label,
                  const NamedCounts& counts) {
        MetricFamily& all = family(name, help, MetricType::Counter);
        counts.each([&](const char* value, std::uint64_t count) {
            add(all, number(count), {{label, value}});
        });
    }
    void histogram(const char* name, const char* help, const DurationCounts& counts) {
        ClientMetric metric;
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < counts.bounds().size(); ++i) {
            sum += counts.count(i);
            metric.histogram.bucket.push_back({sum, in_seconds(counts.bounds()[i])});
        }
        sum += counts.count(counts.bounds().size());
        metric.histogram.bucket.push_back({sum, std::numeric_limits<double>::infinity()});
        metric.histogram.sample_count = sum;
        metric.histogram.sample_sum = number(counts.sum_ns()) * 1e-9;
        family(name, help, MetricType::Histogram).metric.push_back(std::move(metric));
    }
    static void add(MetricFamily& family, double value, Labels labels) {
        ClientMetric metric;
        metric.label = std::move(labels);
        metric.gauge.value = metric.counter.value = value;
        family.metric.push_back(std::move(metric));
    }

    std::string text() const {
        std::ostringstream out;
        out.imbue(std::locale::classic());
        prometheus::TextSerializer().Serialize(out, families_);
        return out.str();
    }

private:
    std::vector<MetricFamily> families_;
};

void add_leadership(Families& families, const AtTheMoment& at) {
    const protocol::View& view = at.node.status.view;
    families.gauge("bullring_is_leader", "Whether this node leads, by its lease.",
                   number(at.leads()));
    families.gauge("bullring_leader_id", "The leader that this node knows of; 0: none.",
                   number(at.leader().value));
    families.gauge("bullring_epoch",
                   "The epoch of that leader; the highest that was seen when there is none.",
                   number(at.epoch().value));
    families.gauge("bullring_lease_seconds_left", "What is left of that leader's lease.",
                   in_seconds(at.lease_left()));
    MetricFamily& role =
        families.family("bullring_role", "1 for the role that this node has.", MetricType::Gauge);
    const bool candidate = !at.leads() && view.role == protocol::Role::candidate;
    Families::add(role, number(at.leads()), {{"role", "leader"}});
    Families::add(role, number(!at.leads() && !candidate), {{"role", "follower"}});
    Families::add(role, number(candidate), {{"role", "candidate"}});
    families.gauge("leader_election_master_status",
                   "Whether this node leads, by the name that leader election has in Kubernetes.",
                   number(at.leads()), {{"name", at.node.status.cluster}});
}

/// The reasons why it could not lead, or the others could not count on it.
void add_fitness(Families& families, const protocol::View& view) {
    families.gauge("bullring_healthy", "Whether the health check of this node passes.",
                   number(view.healthy));
    families.gauge("bullring_eligible", "Whether this node could lead.", number(view.eligible));
    families.gauge(
        "bullring_votes",
        "Whether this node votes; not while it is silent after a restart, removed, or ends.",
        number(view.votes));
    families.gauge("bullring_majority_connected",
                   "Whether this node and so many voters as are a majority hear each other.",
                   number(view.quorum_connected));
    families.gauge(
        "bullring_wrong",
        "Whether something has to be mended at this node, whoever leads; status says what.",
        number(!view.wrong.empty()));
}

/// By the names that Prometheus' own client libraries have for them.
void add_process(Families& families) {
    const auto figures = process_figures();
    if (!figures) return;
    families.counter("process_cpu_seconds_total", "Processor time that this process has used.",
                     figures->cpu_seconds);
    families.gauge("process_start_time_seconds", "When it was started, in seconds since 1970.",
                   figures->start_time_seconds);
    families.gauge("process_resident_memory_bytes", "Its resident memory.",
                   number(figures->resident_bytes));
    families.gauge("process_virtual_memory_bytes", "Its virtual memory.",
                   number(figures->virtual_bytes));
    families.gauge("process_open_fds", "Its open file descriptors.", number(figures->open_fds));
    families.gauge("process_max_fds", "How many it may have open.", number(figures->max_fds));
}

void add_elections(Families& families, const AtTheMoment& at, const NodeCounts& counts) {
    families.counters("bullring_leader_changes_total",
                      "Leader changes, by how the previous leadership ended.", "reason",
                      counts.leader_changes);
    families.counters("bullring_elections_total",
                      "Elections that this node has begun, by how they ended.", "result",
                      counts.elections);
    families.histogram("bullring_failover_seconds",
                       "From the last sign of life of a lost leader to the next leader.",
                       counts.failovers);
    double without = number(counts.leaderless_ns.value());
    if (const std::int64_t since = counts.leaderless_since_ns.load(); since != 0)
        // A loss after the instant of the answer must not count backwards.
        without += number(std::max<std::int64_t>(at.now.boottime_ns - since, 0));
    families.counter("bullring_leaderless_seconds_total",
                     "How long this node has known no leader since it started.", without * 1e-9);
}

void add_peers(Families& families, const AtTheMoment& at, const PeerRtts& rtts) {
    const protocol::View& view = at.node.status.view;
    const protocol::Membership& members = view.members;
    MetricFamily& connected =
        families.family("bullring_peer_connected",
                        "Whether this node and the peer hear each other.", MetricType::Gauge);
    for (const protocol::MemberEntry& member : members.entries()) {
        if (member.id == view.self) continue;
        Families::add(connected, number(view.connected.contains(member.slot)),
                      {{"peer", std::to_string(member.id.value)}});
    }
    MetricFamily& version = families.family(
        "bullring_peer_wire_version",
        "The version of the wire format that is spoken with the peer.", MetricType::Gauge);
    for (std::size_t i = 0; i < view.versions.size(); ++i) {
        if (view.versions[i] == 0) continue;
        const protocol::NodeId peer = members.id(static_cast<protocol::Index>(i));
        Families::add(version, number(view.versions[i]), {{"peer", std::to_string(peer.value)}});
    }
    MetricFamily& rtt = families.family(
        "bullring_peer_rtt_seconds",
        "The smoothed round trip of the connection to the peer, by the kernel's measure.",
        MetricType::Gauge);
    for (const auto& [peer, time] : rtts)
        Families::add(rtt, in_seconds(time), {{"peer", std::to_string(peer.value)}});
    MetricFamily& voting =
        families.family("bullring_members", "Members of the cluster.", MetricType::Gauge);
    const std::size_t voters = view.list.voters().size();
    Families::add(voting, number(voters), {{"vote", "yes"}});
    Families::add(voting, number(view.list.size() - voters), {{"vote", "no"}});
}

/// A new credential is another series: by `kind` "key" its ID, by "certificate" its serial number.
Labels credential_labels(const ShownCredential& shown) {
    if (!shown.key.empty())
        return {{"kind", "key"}, {"id", shown.key}, {"issuer", ""}, {"issuer_key", ""}};
    return {{"kind", "certificate"},
            {"id", shown.certificate},
            {"issuer", shown.issuer.name},
            {"issuer_key", shown.issuer.key}};
}

void add_credentials(Families& families, const OwnCredential& own,
                     const SessionCredentials& sessions) {
    if (own == OwnCredential{}) return;
    families.gauge("bullring_credential_info", "1 for the credential that this node shows.", 1,
                   credential_labels(own.shown));
    MetricFamily& peers =
        families.family("bullring_peer_credential_info",
                        "1 for the credential that a connected peer has shown; its kind is none "
                        "where it is connected without security.",
                        MetricType::Gauge);
    for (const auto& [id, peer] : sessions.peers) {
        Labels labels = credential_labels(peer.shown);
        if (!peer.secured) labels.front().value = "none";
        if (peer.secured && peer.shown == ShownCredential{}) continue;
        labels.insert(labels.begin(), {"peer", std::to_string(id.value)});
        Families::add(peers, 1, std::move(labels));
    }
    if (own.accepts.empty()) return;
    MetricFamily& accepted = families.family(
        "bullring_accepted_key_info", "1 for each key that lets a member in.", MetricType::Gauge);
    for (const std::string& key : own.accepts) Families::add(accepted, 1, {{"id", key}});
}

void add_traffic(Families& families, const NodeCounts& counts) {
    MetricFamily& messages = families.family("bullring_messages_total",
                                             "Messages between the members.", MetricType::Counter);
    for (const auto& [direction, by_type] :
         {std::pair<const char*, const NamedCounts*>{"sent", &counts.sent},
          {"received", &counts.received}})
        by_type->each([&, direction = direction](const char* type, std::uint64_t count) {
            Families::add(messages, number(count), {{"type", type}, {"direction", direction}});
        });
    families.counters("bullring_refused_total",
                      "Connections that this node has refused, by what was wrong.", "reason",
                      counts.refused);
}

/// The two formats differ in how counters are introduced, and in the end.
std::string as_open_metrics(const std::string& text) {
    std::string result;
    std::istringstream lines(text);
    constexpr std::string_view total = "_total";
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) {
            // "# TYPE name counter", "# HELP name …": a counter's family goes without "_total".
            const std::size_t name_end = line.find(' ', line.find(' ', 2) + 1);
            if (name_end > total.size() &&
                line.compare(name_end - total.size(), total.size(), total) == 0)
                line.erase(name_end - total.size(), total.size());
        }
        result += line + "\n";
    }
    return result + "# EOF\n";
}

}  // namespace

MetricsFormat metrics_format(std::string_view accept) {
    return asks_for(accept, "application/openmetrics-text", "text/plain")
               ? MetricsFormat::open_metrics
               : MetricsFormat::prometheus;
}

const char* content_type(MetricsFormat format) {
    return format == MetricsFormat::open_metrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(MetricsFormat format, const AtTheMoment& at, const NodeCounts& counts,
                         const Connected& connected) {
    Families families;
    families.gauge("bullring_build_info", "The version and the way this node is configured.", 1,
                   {{"version", at.node.status.version},
                    {"commit", at.node.status.commit},
                    {"algorithm", protocol::name(at.node.status.algorithm)},
                    {"security", at.node.status.security}});
    families.gauge("bullring_wire_version",
                   "The highest version of the wire format that this node speaks.",
                   number(at.node.status.wire));
    if (at.node.status.certificate_not_after != 0)
        families.gauge("bullring_certificate_not_after_seconds",
                       "When this node's certificate expires, in seconds since 1970.",
                       number(at.node.status.certificate_not_after));
    add_leadership(families, at);
    add_fitness(families, at.node.status.view);
    add_elections(families, at, counts);
    add_peers(families, at, connected.rtts);
    add_credentials(families, at.node.status.credential, connected.credentials);
    add_traffic(families, counts);
    families.histogram("bullring_loop_lateness_seconds",
                       "How much later than planned the event loop came to its timer.",
                       counts.loop_lateness);
    families.histogram("bullring_fsync_seconds", "How long it took to write the durable state.",
                       counts.fsyncs);
    if (const std::int64_t lost = counts.events_lost.load(); lost >= 0)
        families.counter("bullring_events_lost_total",
                         "Events that are missing in the event stream, which could not be written.",
                         number(lost));
    if (const double ppm = counts.clock_correction_ppm.load(); !std::isnan(ppm))
        families.gauge("bullring_clock_correction_ratio",
                       "By which part of it the kernel makes this machine's clock run faster.",
                       ppm * 1e-6);
    families.gauge(
        "bullring_task_running",
        "Whether the command, the task or the attached process that only a leader has is "
        "running here.",
        number(counts.task_running.load() || counts.attached_leads.load()));
    families.gauge("bullring_attached_candidates",
                   "How many attached processes want to lead through this node, or do.",
                   number(counts.attached_candidates.load()));
    const std::uint64_t starts = counts.task_starts.value();
    families.counter("bullring_task_restarts_total",
                     "How often it was started here after the first time.",
                     number(starts == 0 ? 0 : starts - 1));
    add_process(families);
    const std::string text = families.text();
    return format == MetricsFormat::open_metrics ? as_open_metrics(text) : text;
}

}  // namespace bullring
