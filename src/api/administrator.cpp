// Owns: an administrator's calls. Each one runs a loop of its own in the caller's thread.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <bullring/administrator.hpp>

#include "src/api/administrator_settings.hpp"
#include "src/api/member_list.hpp"
#include "src/api/observer_settings.hpp"
#include "src/observe/member_changing.hpp"
#include "src/observe/members_report.hpp"
#include "src/observe/reached_cluster.hpp"
#include "src/observe/resigning.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

using What = protocol::MemberChange::What;

/// Longer than anybody waits, and far from where the clock's range ends.
constexpr protocol::Duration wait_max = protocol::seconds(std::int64_t{365} * 24 * 3600);

protocol::Duration duration_of(std::chrono::nanoseconds timeout) {
    return {std::clamp<std::int64_t>(timeout.count(), 0, wait_max.ns)};
}

/// The members as a node among them reaches them: itself by its data directory while it leads,
/// which asks for no rights.
class OwnCluster final : public AskedCluster {
public:
    OwnCluster(ObserverLoop& loop, const AdministratorSettings& settings,
               protocol::Duration timeout)
        : own_(loop, settings.data_dir, settings.cluster.cluster, timeout),
          all_(loop, settings.cluster, timeout),
          self_(settings.data_dir.empty() ? protocol::nobody : settings.self) {}

    const std::string& name() const override { return all_.name(); }
    bool time_is_up() const override { return all_.time_is_up(); }
    asio::awaitable<void> pause() override { return all_.pause(); }
    asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) override {
        if (self_) {
            auto answers = co_await own_.ask({});
            const std::optional<NodeAnswer>& own = answers.front().answer;
            if (own && own->role == "leader" && enough && enough(answers)) co_return answers;
        }
        co_return co_await all_.ask(std::move(enough));
    }
    asio::awaitable<bool> request(protocol::NodeId leader, ObserverMessage request) override {
        asked_ = leader == self_ ? static_cast<ReachedCluster*>(&own_) : &all_;
        return asked_->request(leader, std::move(request));
    }
    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override {
        return asked_->answer();
    }

private:
    LocalNode own_;
    RemoteCluster all_;
    ReachedCluster* asked_ = nullptr;
    protocol::NodeId self_;  // `nobody`: nothing is to be reached by a directory
};

/// Gives what `work` gives, which is called with the cluster.
template <class Result, class Work>
Result ask_cluster(const AdministratorSettings& settings, protocol::Duration timeout, Work work) {
    ObserverLoop loop;
    const auto secured =
        loop.secure(settings.cluster.security, {settings.cluster.cluster, settings.self});
    if (!secured) throw NodeError(secured.error());
    OwnCluster cluster(loop, settings, timeout);
    return run_to_end<Result>(loop, work(cluster));
}

AdminAnswer answer_of(const Outcome& outcome) {
    if (outcome.exit_status == 0) return {true, {}};
    return {false, outcome.text};
}

AdminAnswer change(const AdministratorSettings& settings, const protocol::MemberChange& change,
                   std::chrono::nanoseconds timeout) {
    const protocol::Duration within = duration_of(timeout);
    return answer_of(ask_cluster<Outcome>(settings, within, [&](AskedCluster& cluster) {
        return change_members(cluster, {change}, within);
    }));
}

protocol::NodeId checked_id(std::uint64_t id) {
    const auto parsed = parse_node_id(std::to_string(id));
    if (!parsed) throw ConfigError({parsed.error()});
    return *parsed;
}

protocol::MemberChange at_address(What what, std::uint64_t id, const std::string& address) {
    const protocol::NodeId member = checked_id(id);
    const auto endpoint = parse_endpoint(address);
    if (!endpoint) throw ConfigError({"address: " + endpoint.error()});
    return {what, member, to_text(*endpoint)};
}

MemberList list_of(const std::vector<MemberAnswer>& answers) {
    const protocol::Membership list = newest_list(answers);
    if (list.empty()) return {{}, {}, why_no_list(answers)};
    return described(list);
}

}  // namespace

Administrator::Administrator(const std::string& peers, const std::string& cluster,
                             const ObserverSecurity& security)
    : Administrator(std::make_unique<const AdministratorSettings>(AdministratorSettings{
          observer_settings("member", peers, cluster, security), protocol::nobody, {}})) {
    const ObserverOptions& options = settings_->cluster;
    const auto opened = open_tls(options.security, {options.cluster, protocol::nobody});
    if (!opened) throw ConfigError({opened.error()});
}

Administrator::Administrator(std::unique_ptr<const AdministratorSettings> settings)
    : settings_(std::move(settings)) {}
Administrator::Administrator(Administrator&&) noexcept = default;
Administrator& Administrator::operator=(Administrator&&) noexcept = default;
Administrator::~Administrator() = default;

MemberList Administrator::members(std::chrono::nanoseconds timeout) const {
    using Answers = std::vector<MemberAnswer>;
    return list_of(ask_cluster<Answers>(*settings_, duration_of(timeout),
                                        [](AskedCluster& cluster) { return cluster.ask({}); }));
}

AdminAnswer Administrator::add(std::uint64_t id, const std::string& address,
                               std::chrono::nanoseconds timeout) const {
    return change(*settings_, at_address(What::add, id, address), timeout);
}
AdminAnswer Administrator::remove(std::uint64_t id, std::chrono::nanoseconds timeout) const {
    return change(*settings_, {What::remove, checked_id(id), {}}, timeout);
}
AdminAnswer Administrator::promote(std::uint64_t id, std::chrono::nanoseconds timeout) const {
    return change(*settings_, {What::promote, checked_id(id), {}}, timeout);
}
AdminAnswer Administrator::demote(std::uint64_t id, std::chrono::nanoseconds timeout) const {
    return change(*settings_, {What::demote, checked_id(id), {}}, timeout);
}
AdminAnswer Administrator::change_address(std::uint64_t id, const std::string& address,
                                          std::chrono::nanoseconds timeout) const {
    return change(*settings_, at_address(What::address, id, address), timeout);
}

AdminAnswer Administrator::resign(std::uint64_t to, std::chrono::nanoseconds timeout) const {
    const protocol::NodeId successor = to == 0 ? protocol::nobody : checked_id(to);
    const protocol::Duration within = duration_of(timeout);
    return answer_of(ask_cluster<Outcome>(*settings_, within, [&](AskedCluster& cluster) {
        return resign_leader(cluster, successor, within);
    }));
}

}  // namespace bullring
