// One node and what is around it: its peers, of whom each may say anything at all that the wire can
// carry, its clocks, its disk, its task and its user, as the fuzz target `step` has them; and what
// must hold of each of its actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/fuzz/step_messages.hpp"

namespace bullring::fuzz {

using namespace protocol;

class Host {
public:
    explicit Host(Input& input);

    void one_event();
    /// A node whose timer is due has something to do, and then it has not.
    void settle_timers();
    void check_recovers();

private:
    struct Peer {
        Sender sender;
        SessionId dialled;   // in use or being greeted
        Incarnation buried;  // its last run that is known to have ended
        Instant buried_at = long_ago;
    };
    struct Accepted {
        Sender from;
        SessionId number;
        std::uint16_t version = version_lowest;  // the highest that both ends speak
        bool answered = false;
        bool refused = false;
    };
    struct Dialled {
        NodeId to;
        bool up = false;
        bool over = false;
    };
    /// A promise as a GRANT has told it.
    struct Given {
        HolderKey holder;
        Epoch epoch;
        Instant end;
        SessionId tied;  // the holder's number; `no_session`: to none
    };

    const Timing& timing() const { return seen_.config.timing; }
    const Config& config() const { return seen_.config; }
    Index me() const { return *config().members.index(config().self); }

    void start();
    void crash();
    void step(const Event& event);
    void carry_out(const Action& action);
    void carry_out(const Send& send);
    void check_close(SessionId session) const;
    void check_persist(const Durable& durable);
    void check_publish(const Publish& publish);
    void check_elected(const Elected& elected);
    void check_grant(HolderKey holder, Epoch epoch, Duration lease, SessionId tied);
    void check_resign() const;
    void note_request(const Coordinator& request);
    void note_heard(const Message& message, Sender from);

    void pass_time();
    void accept(Sender from, const Hello& hello);
    void dial(Peer& peer);
    void answer_dial(SessionId session, const Message& answer);
    void hear();
    void end_session(SessionId session, SessionEnd how);
    void disk_answers();
    void tell_task();
    void tell_of_death(Peer& peer);

    Peer* any_peer() {
        if (peers_.empty()) return nullptr;
        return &std::next(peers_.begin(), static_cast<std::ptrdiff_t>(input_.below(peers_.size())))
                    ->second;
    }
    template <class Sessions>
    auto any_of(Sessions& sessions) {
        return std::next(sessions.begin(),
                         static_cast<std::ptrdiff_t>(input_.below(sessions.size())));
    }

    Input& input_;
    Seen seen_;
    Speaker speaker_{input_, seen_};
    std::optional<Node> node_;
    std::map<NodeId, Peer> peers_;
    std::map<SessionId, Accepted> accepted_;
    std::map<SessionId, Dialled> dialled_;
    std::optional<Durable> disk_;
    std::optional<Durable> writing_;
    Epoch task_;
    bool task_stopping_ = false;
    bool healthy_ = true;
    bool willing_ = true;
    bool stopped_ = false;
    bool stop_asked_ = false;
    std::uint64_t runs_ = 0;
    std::uint64_t last_session_ = 0;
    std::vector<Action> actions_;
    Epoch highest_;  // that was asked for or granted
    Epoch led_;      // the last one in which it led
    // ---- In this run.
    Publish published_;
    Role role_ = Role::follower;           // as the actions before have told it
    std::set<Epoch> asked_;                // for a lease, or would have been
    std::map<Epoch, Instant> told_until_;  // by grants
    std::map<Epoch, MemberSet> granted_by_;
    std::map<Epoch, HolderKey> voted_;
    std::set<std::pair<HolderKey, Epoch>> renewals_;  // that were asked for
    /// Tokens that had come with a vote of this node already.
    std::set<std::pair<HolderKey, Epoch>> forged_votes_;
    std::set<std::pair<HolderKey, Epoch>> token_votes_;  // of this node
    std::vector<Given> given_;
};

}  // namespace bullring::fuzz
