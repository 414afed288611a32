// Owns: the node's side of `attach.sock`: the processes of this machine that may hold the
// leadership through this node (protocol/attach/README.md), beside or in turns with the node's own
// host. The socket's lines are bullring-attach(7). Nothing here waits for a client.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/attach/candidacies.hpp"
#include "src/base/os/wake_timer.hpp"
#include "src/settings/node_options.hpp"
#include "src/task/attach/attach_client.hpp"
#include "src/task/attach/attach_text.hpp"
#include "src/task/attach/client_guard.hpp"
#include "src/task/host_around.hpp"
#include "src/task/watched_listener.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

class AttachServer final : public HostAround, private NodeListener {
public:
    static constexpr std::size_t clients_max = 256;

    /// `own_task`: what `make_inner` makes works in turns with the clients; else beside them.
    AttachServer(asio::io_context& io, NodeLink& node, const NodeOptions& options, LoopPulse& pulse,
                 const ClientGuard::Parts& guard, const MakeHost& make_inner, bool own_task);
    ~AttachServer() override;

    void start(protocol::Epoch epoch) override;
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;
    void publish(const protocol::Publish& publish) override;
    void file_removed(const std::string& name) override;
    SessionKeeper* session_keeper() override { return guard_.before(inner().session_keeper()); }

private:
    using Client = std::shared_ptr<AttachClient>;

    // The inner host's calls.
    void tell(const protocol::Event& event) override;
    void set_willing(bool willing, const std::string& why) override;

    void leader_changed(protocol::Instant now, const protocol::LeaderChanged& change) override;
    void resign_answered(const protocol::ResignAnswer& answer) override;

    void admit(OwnedFd socket);
    void on_line(AttachClient& client, std::string_view line);
    void on_request(AttachClient& client, const AttachRequest& request);
    std::string campaign(AttachClient& client, const AttachCampaign& asked,
                         protocol::Candidacies::Orders& orders);
    void on_lost(protocol::ClientId id);
    void on_closed(protocol::ClientId id);
    void on_ended(protocol::ClientId id);
    void drop(protocol::ClientId id);
    void tell_leader_soon();
    void tell_leader(protocol::ClientId after);

    void obey(const protocol::Candidacies::Orders& orders);
    void carry_out(const protocol::Candidacies::Hold& order);
    void carry_out(const protocol::Candidacies::Stop& order);
    void carry_out(const protocol::Candidacies::Release& order);
    void carry_out(const protocol::Candidacies::StartOwn& order);
    void carry_out(const protocol::Candidacies::StopOwn& order);
    void carry_out(const protocol::Candidacies::Tell& order);
    void end_leadership(const protocol::TaskEnded& event);
    void tell_willing();
    void look_again();
    void on_look();
    AttachClient* find(protocol::ClientId id);
    void show();

    asio::io_context& io_;
    const NodeOptions& options_;
    LoopPulse& pulse_;
    bool own_task_;
    protocol::Candidacies candidacies_;
    ClientGuard guard_;
    WatchedListener listener_;
    asio::steady_timer leader_timer_;
    WakeTimer look_timer_;
    std::map<protocol::ClientId, Client> clients_;
    std::uint64_t last_id_ = 0;
    std::map<std::uint64_t, protocol::ClientId> resigns_;  // by the number of the request
    std::uint64_t last_resign_ = 0;
    protocol::LeaderChanged leader_{};  // as it is told
    bool leader_waits_ = false;         // to be told
    protocol::Epoch leads_;             // from start() until the node is told of the end
    bool inner_runs_ = false;           // beside the clients
    std::optional<protocol::TaskEnded> ended_;
    bool own_willing_ = true;
    std::string why_unwilling_;
    bool told_willing_ = true;
    std::string told_why_;
    std::size_t shown_clients_ = 0;
    std::optional<protocol::ClientId> shown_works_;
    std::optional<AttachedHolder> holder_;
};

}  // namespace bullring
