// Owns: reaching a cluster's members for a command, over the network or by the data directory of
// the node on this machine. One thread: that of its loop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/time.hpp"
#include "src/observe/asked_cluster.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/observer_options.hpp"

namespace bullring {

/// The part that is the same however the members are reached.
class ReachedCluster : public AskedCluster {
public:
    ReachedCluster(ObserverLoop& loop, std::string name, protocol::Duration timeout);

    const std::string& name() const override { return name_; }
    bool time_is_up() const override;
    asio::awaitable<void> pause() override;
    asio::awaitable<bool> request(protocol::NodeId leader, ObserverMessage request) override;
    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override;

protected:
    using Opened = tl::expected<void, LinkFailure>;
    virtual asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId leader,
                                         ObserverMessage request) = 0;

    ObserverLoop& loop_;
    Deadline end_;

private:
    std::string name_;
    std::optional<ObserverLink> link_;  // to the leader that was asked last
};

class RemoteCluster final : public ReachedCluster {
public:
    RemoteCluster(ObserverLoop& loop, const ObserverOptions& options, protocol::Duration timeout);
    asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) override;

private:
    asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId leader,
                                 ObserverMessage request) override;

    const ObserverOptions& options_;
    std::map<protocol::NodeId, Endpoint> addresses_;  // that have answered
    RefusalNotes notes_;
};

/// The node on this machine, which knows who leads after it.
class LocalNode final : public ReachedCluster {
public:
    LocalNode(ObserverLoop& loop, std::string data_dir, std::string cluster,
              protocol::Duration timeout);
    asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) override;
    bool asks_one() const override { return true; }
    /// Why it is of no use to ask it for what only a leader does; empty when it leads.
    asio::awaitable<std::string> why_not();

private:
    asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId leader,
                                 ObserverMessage request) override;

    std::string data_dir_;
};

}  // namespace bullring
