// Owns: the course of `drill`. All members are asked for permission; then, one round after the
// other, a fault happens to the leader, the next leader and the return of the old one are waited
// for. It never takes away a majority: no round begins before all members are there, agree on the
// leader and vote.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "src/observe/observer_client.hpp"
#include "src/observe/observer_link.hpp"
#include "src/verify/drill/drill_options.hpp"
#include "src/verify/drill/lookout.hpp"
#include "src/verify/drill/tally.hpp"

namespace bullring::drill {

class Course {
public:
    struct Callbacks {
        std::function<void(const std::string&)> progress;  // what is being waited for
        std::function<void(const std::string&)> problem;   // a line for people
    };

    Course(ObserverLoop& loop, const DrillOptions& options, Callbacks callbacks);

    /// False when the drill was not allowed to begin, or had to end early.
    asio::awaitable<bool> run();
    /// After the round that is under way.
    void stop();

    const Tally& tally() const { return tally_; }
    /// Whether the members have allowed it.
    bool begun() const { return begun_; }
    /// The first of the members that were not there, if that was the end.
    protocol::NodeId not_back() const { return not_back_; }

private:
    struct Asked {
        std::optional<DrillResult> result;
        std::string problem;
    };

    asio::awaitable<void> find_members();
    asio::awaitable<bool> all_allow();
    asio::awaitable<bool> rounds();
    asio::awaitable<bool> play(DrillRequest fault);
    asio::awaitable<std::optional<Agreement>> strike(DrillRequest fault, Deadline& at);
    asio::awaitable<std::optional<Agreement>> all_agree(Deadline end, bool may_be_stopped);
    asio::awaitable<Asked> ask(protocol::NodeId member, DrillRequest what, protocol::Epoch epoch);
    asio::awaitable<void> pause_until(Deadline at);
    bool over() const;
    protocol::Duration return_max() const;
    void progress(DrillRequest fault, const std::string& what) const;
    void end_early();

    ObserverLoop& loop_;
    const DrillOptions& options_;
    Callbacks callbacks_;
    PeerList members_;  // once they are found
    Lookout lookout_;
    Tally tally_;
    asio::steady_timer pause_;
    std::map<protocol::NodeId, protocol::Duration> leases_;
    std::vector<MemberAnswer> last_answers_;
    std::string refusal_;  // the last one of a fault
    std::optional<Deadline> end_;
    protocol::NodeId not_back_;
    bool begun_ = false;
    bool stopped_ = false;
    bool ended_early_ = false;
};

}  // namespace bullring::drill
