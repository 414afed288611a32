#include "src/observe/reached_cluster.hpp"

#include <algorithm>
#include <utility>

#include "src/base/text/text.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

/// While the leader has not answered, the others are asked this often what they know.
constexpr protocol::Duration look_around_every = protocol::milliseconds(200);

}  // namespace

ReachedCluster::ReachedCluster(ObserverLoop& loop, std::string name, protocol::Duration timeout)
    : loop_(loop), end_(deadline_in(timeout)), name_(std::move(name)) {}

bool ReachedCluster::time_is_up() const { return std::chrono::steady_clock::now() >= end_; }

asio::awaitable<void> ReachedCluster::pause() {
    co_await sleep_until(loop_, std::min(end_, deadline_in(round_pause)));
}

asio::awaitable<bool> ReachedCluster::request(protocol::NodeId leader, ObserverMessage request) {
    link_.emplace(loop_);
    const auto opened = co_await open(*link_, leader, std::move(request));
    co_return opened.has_value();
}

asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> ReachedCluster::answer() {
    auto received = co_await link_->receive(std::min(end_, deadline_in(look_around_every)));
    if (!received) co_return tl::unexpected(std::move(received.error()));
    co_return std::move(received->message);
}

// ---- Over the network.

RemoteCluster::RemoteCluster(ObserverLoop& loop, const ObserverOptions& options,
                             protocol::Duration timeout)
    : ReachedCluster(loop, options.cluster, timeout),
      options_(options),
      addresses_(options.peers),
      notes_(options.log.level) {}

asio::awaitable<std::vector<MemberAnswer>> RemoteCluster::ask(Enough enough) {
    auto answers = co_await ask_members(loop_, options_.peers, options_.cluster,
                                        round_deadline(end_), std::move(enough));
    for (const MemberAnswer& one : answers)
        if (const auto endpoint = parse_endpoint(one.address); one.answer && endpoint)
            addresses_[one.id] = *endpoint;
    notes_.say(of_one_cluster(answers));
    co_return answers;
}

asio::awaitable<ReachedCluster::Opened> RemoteCluster::open(ObserverLink& link,
                                                            protocol::NodeId leader,
                                                            ObserverMessage request) {
    co_return co_await link.open(leader, addresses_.at(leader), std::move(request), end_);
}

// ---- On this machine.

LocalNode::LocalNode(ObserverLoop& loop, std::string data_dir, std::string cluster,
                     protocol::Duration timeout)
    : ReachedCluster(loop, std::move(cluster), timeout), data_dir_(std::move(data_dir)) {}

asio::awaitable<std::vector<MemberAnswer>> LocalNode::ask(Enough /*enough*/) {
    std::vector<MemberAnswer> answers;
    answers.push_back(co_await ask_locally(loop_, data_dir_, round_deadline(end_)));
    co_return answers;
}

asio::awaitable<std::string> LocalNode::why_not() {
    const MemberAnswer node = (co_await ask({})).front();
    if (!node.answer)
        co_return "the node in " + in_quotes(data_dir_) + " can't be asked: " + node.problem;
    if (node.answer->role == "leader") co_return std::string();
    const std::string name = "node " + std::to_string(node.id.value);
    if (!node.answer->leader) co_return name + " does not lead, and knows nobody who does";
    co_return name + " does not lead, node " + std::to_string(node.answer->leader.value) +
        " does; expected --local on its machine";
}

asio::awaitable<ReachedCluster::Opened> LocalNode::open(ObserverLink& link,
                                                        protocol::NodeId /*leader*/,
                                                        ObserverMessage request) {
    co_return co_await link.open_locally(data_dir_, std::move(request), end_);
}

}  // namespace bullring
