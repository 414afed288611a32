// Owns: the server's side of OBSERVE and DRILL: status, watch, resign, drill. Observers must never
// cost an election anything: changes are sent to the watchers a little later and a few at a
// time, so that the loop gets back to its sessions in between. A watcher that does not read is
// disconnected, never skipped.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/actions.hpp"
#include "src/node/net/transport.hpp"
#include "src/node/observers/rate_limit.hpp"
#include "src/node/report/asked_action.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

class ObserverSessions {
public:
    struct DrillAnswer {
        DrillResult result;
        std::function<void()> act;
    };

    struct Node {
        std::function<std::string(protocol::SessionId asker)> status_json;
        /// The answer comes back through on_resign_answer with the same number.
        std::function<void(protocol::NodeId to, std::uint64_t request)> resign;
        /// Whether it may happen now, and what makes it happen once the answer has left.
        std::function<DrillAnswer(const Drill& what)> drill;
        /// The answer comes back through on_members_answer with the same number.
        std::function<void(const protocol::MemberChange& change, std::uint64_t request)>
            change_members;
        std::function<protocol::ClusterId()> cluster_id;
        /// With what came of it.
        std::function<void(AskedAction action)> was_asked;
        /// Writes what log and event stream still lack: who is about to be killed can't later.
        std::function<void()> tell_at_once;
    };

    ObserverSessions(asio::io_context& io, Transport& transport, Sender self, std::string cluster,
                     ObserverChange now, Node node);

    void on_request(protocol::SessionId observer, const ObserverMessage& what);
    void on_gone(protocol::SessionId observer);
    /// Cheap: one encoding, and nothing is written before this turn of the loop is over.
    void on_change(const ObserverChange& change);
    /// While it is so, nobody watches: a node that is no member knows no leader, and others do.
    void set_removed(bool removed);
    void on_resign_answer(const protocol::ResignAnswer& answer);
    void on_members_answer(const protocol::MembersAnswer& answer);

    /// Limits what strangers can cost: anybody can ask for a handover, and each is an election.
    static constexpr int resigns_at_once = 3;
    static constexpr std::chrono::seconds resign_every{3};

private:
    using Bytes = std::vector<std::byte>;
    /// To be answered.
    struct Request {
        protocol::SessionId observer;  // none: it has gone meanwhile
        AskedAction action;
    };

    /// False when it has been refused.
    bool admit(protocol::SessionId observer, const std::string& its_cluster);
    void on_observe(protocol::SessionId observer, const Observe& what);
    void on_drill(protocol::SessionId observer, const Drill& what);
    void on_change_members(protocol::SessionId observer, const ChangeMembers& what);
    Bytes encoded(const ObserverMessage& message) const;
    /// For watchers.
    Bytes state();
    void answer_and_close(protocol::SessionId observer, const ObserverMessage& message);
    /// It is not for this observer, or can't be done now, as `answer` says.
    void turn_down(protocol::SessionId observer, AskedAction action, AskedAction::Answer how,
                   const std::string& why, const ObserverMessage& answer);
    AskedAction asked(protocol::SessionId observer, std::string what) const;
    std::uint64_t expect_answer(protocol::SessionId observer, std::string what);
    void ask_to_resign(protocol::SessionId observer, protocol::NodeId to, std::string what);
    void answer_request(protocol::RequestId request, bool done, const std::string& why,
                        const ObserverMessage& answer);
    void add_watcher(protocol::SessionId observer);
    void append(Bytes frame);
    void write_later();
    void write_some();
    /// False when the watcher is gone.
    bool write_to(protocol::SessionId watcher, std::uint64_t& next);
    void keep_alive_later();

    asio::io_context& io_;
    Transport& transport_;
    Sender self_;
    std::string cluster_;
    Node node_;
    ObserverChange current_;
    std::set<protocol::SessionId> observers_;
    std::map<std::uint64_t, Request> requests_;
    std::map<protocol::SessionId, std::uint64_t>
        watchers_;             // and the next line that each one needs
    std::deque<Bytes> lines_;  // numbered from `first_line_`
    std::uint64_t first_line_ = 0;
    protocol::SessionId cursor_;  // the watcher that was written to last
    bool removed_ = false;
    bool writing_ = false;
    bool keeping_alive_ = false;
    asio::steady_timer delay_;
    asio::steady_timer keep_alive_;
    std::uint64_t last_request_ = 0;
    RateLimit resign_limit_{resigns_at_once, resign_every};
};

}  // namespace bullring
