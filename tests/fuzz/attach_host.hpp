// The host of `protocol::Candidacies` in the target `attach`: the input chooses what happens, and
// each order is judged by a ledger of what was said and ordered before
// (protocol/attach/README.md).
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "protocol/attach/candidacies.hpp"
#include "tests/fuzz/input.hpp"

namespace bullring::fuzz {

class AttachHost {
public:
    explicit AttachHost(Input& input);
    /// To the input's end; then the node ends its leadership, and has to get to that end.
    void run();

private:
    using Candidacies = protocol::Candidacies;
    using ClientId = protocol::ClientId;
    struct Client {
        ClientId id;
        protocol::Candidacy asks{};
        bool connected = true;
        bool lives = true;
        bool works = false;                              // from its election to its release
        bool told_to_end = false;                        // or known to have no connection
        protocol::Instant progress_at{};                 // never: its stall has been told
        protocol::Instant give_up_at = protocol::never;  // told to end, and not by the node
    };

    // ---- What can happen.
    void happen();
    void happen_to(Client& client);
    void pass_time();
    void start();
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason);
    void untied();
    void own_ended(protocol::Epoch epoch, bool by_itself, bool failed);
    void own_willing(bool willing);
    void campaign(Client& client);
    void done(Client& client, bool again);
    void ended(Client& client);
    void closed(Client& client);
    void wake();

    // ---- What is ordered.
    void obey(const Candidacies::Orders& orders);
    void judge(const Candidacies::Hold& order);
    void judge(const Candidacies::Stop& order);
    void judge(const Candidacies::Release& order);
    void judge(const Candidacies::StartOwn& order);
    void judge(const Candidacies::StopOwn& order);
    void judge(const Candidacies::Tell& order);
    void judge_event(const protocol::TaskEnded& event);
    void judge_event(const protocol::Stalled& event);
    void judge_event(const protocol::Tying& event);
    void judge_event(const protocol::WorkChanged& event);

    void check() const;
    void check_shown(std::int64_t until_ns) const;
    bool has_stalled(const Client& client) const;
    /// The one that works under the leadership, or winds its work up; none: nullptr.
    const Client* worker() const;
    Client* worker() { return const_cast<Client*>(std::as_const(*this).worker()); }
    bool waits(ClientId id) const;
    void leave_order(ClientId id) { std::erase(order_, id); }

    Input& input_;
    protocol::Timing timing_;
    bool own_task_;
    bool beside_;
    Candidacies candidacies_;
    protocol::Instant now_{};
    std::array<protocol::Instant, 4> asked_at_{};  // requests whose grants may be counted
    std::vector<Client> clients_;                  // all that there ever were
    std::deque<ClientId> order_;                   // those that wait; 0: the node's own task
    protocol::Epoch last_;                         // of the leaderships
    protocol::Epoch leads_;                        // until the node is told of the end
    protocol::Instant untied_ = protocol::long_ago;
    bool ending_ = false;
    protocol::DeposedReason reason_{};
    bool own_runs_ = false;
    bool own_willing_ = true;
    bool work_over_ = false;   // the one that works has said so, or its process has ended
    bool closed_now_ = false;  // its connection
    bool asked_now_ = false;   // the one that is released had been told to end
    protocol::WorkChanged work_{};
    bool tied_ = true;
};

}  // namespace bullring::fuzz
