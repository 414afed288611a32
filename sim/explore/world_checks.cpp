#include "sim/explore/world_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/explore/neighbour.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

/// The checks of one message; `found_` keeps the first that fails.
class SentCheck {
public:
    SentCheck(const WorldState& state, const Config& config, std::size_t node)
        : state_(state), config_(config), node_(node), host_(state.hosts[node]) {}

    void operator()(const Grant& grant) {
        granted(grant.epoch, grant.lease);
        const auto on_disk = disk().members.tag();
        if (grant.tag != on_disk)
            fail("I16", fmt::format("node {} grants under {}, but its disk has {}", id(),
                                    to_text(grant.tag), on_disk ? to_text(*on_disk) : "no list"));
    }
    void operator()(const Coordinator& request) { proposed(request.epoch); }
    void operator()(const Resign& resign) {
        if (host_.published.epoch)
            fail("I10", fmt::format("node {} sends RESIGN of epoch {} while it publishes epoch {}",
                                    id(), resign.epoch.value, host_.published.epoch.value));
        if (host_.task)
            fail("I10", fmt::format("node {} sends RESIGN of epoch {} while its task runs", id(),
                                    resign.epoch.value));
    }
    void operator()(const Token& token) { walked(token.walk); }
    void operator()(const CoordinatorToken& token) {
        walked(token.walk);
        if (token.walk.owner == config_.self) return proposed(token.request.epoch);
        const Incarnation own_run = incarnation_of(node_, host_.runs);
        const bool granted_here =
            std::any_of(token.grants.begin(), token.grants.end(), [&](const TokenGrant& grant) {
                return grant.voter == config_.self && grant.voter_incarnation == own_run;
            });
        if (granted_here) granted(token.request.epoch, token.request.lease);
    }
    template <class Other>
    void operator()(const Other&) {}

    const std::optional<Violation>& found() const { return found_; }

private:
    std::uint64_t id() const { return config_.self.value; }
    Durable disk() const { return host_.disk.value_or(Durable{}); }

    void fail(const char* rule, std::string text) {
        if (!found_) found_ = Violation{rule, std::move(text)};
    }
    void proposed(Epoch epoch) {
        if (epoch > disk().hw)
            fail("I11", fmt::format("node {} proposes epoch {}, but its disk knows {} only", id(),
                                    epoch.value, disk().hw.value));
    }
    void granted(Epoch epoch, Duration lease) {
        if (epoch > disk().hw)
            fail("I11", fmt::format("node {} grants epoch {}, but its disk knows {} only", id(),
                                    epoch.value, disk().hw.value));
        if (config_.timing.promise(lease) > disk().promised_max)
            fail("I11", fmt::format("node {} promises for longer than its disk knows", id()));
        if (host_.node->view(clock_of(node_, state_.now)).recovering)
            fail("I7", fmt::format("node {} grants epoch {} while it is silent after its start",
                                   id(), epoch.value));
    }
    void walked(const Walk& walk) {
        const std::size_t hops_max = 3 * (config_.members.size() - 1);
        if (walk.step > hops_max)
            fail("L5",
                 fmt::format("node {} sends a token of node {} on its hop {}; {} are the most",
                             id(), walk.owner.value, walk.step, hops_max));
    }

    const WorldState& state_;
    const Config& config_;
    std::size_t node_;
    const Host& host_;
    std::optional<Violation> found_;
};

}  // namespace

std::optional<Violation> check_leases(const WorldState& state) {
    std::vector<std::size_t> leaders;
    for (std::size_t i = 0; i < state.hosts.size(); ++i)
        if (leads(state, i)) leaders.push_back(i);
    const auto epoch = [&](std::size_t i) { return state.hosts[leaders[i]].published.epoch; };
    if (leaders.size() > 1)
        return Violation{
            "I1", fmt::format("node {} has a valid lease of epoch {} and node {} one of epoch {}",
                              leaders[0] + 1, epoch(0).value, leaders[1] + 1, epoch(1).value)};
    if (leaders.size() == 1 && epoch(0) != state.elected)
        return Violation{"I3",
                         fmt::format("node {} leads with epoch {}, but epoch {} has been elected",
                                     leaders[0] + 1, epoch(0).value, state.elected.value)};
    return std::nullopt;
}

std::optional<Violation> check_elected(const WorldState& state, std::size_t node,
                                       const Elected& elected) {
    if (elected.epoch > state.elected) return std::nullopt;
    return Violation{"I2", fmt::format("node {} is elected with epoch {} after epoch {}", node + 1,
                                       elected.epoch.value, state.elected.value)};
}

std::optional<Violation> check_published(const WorldState& state, std::size_t node,
                                         const Publish& publish) {
    const Publish& before = state.hosts[node].published;
    if (!publish.epoch || publish.epoch != before.epoch) return std::nullopt;
    if (later(before.deadline, publish.deadline) == publish.deadline) return std::nullopt;
    return Violation{"I10", fmt::format("the deadline of node {} in epoch {} moves back", node + 1,
                                        publish.epoch.value)};
}

std::optional<Violation> check_written(std::size_t node, const Durable& written) {
    if (written.members.tag() != tag_of_neighbours) return std::nullopt;
    return Violation{"I19", fmt::format("node {} has taken a list of another cluster", node + 1)};
}

std::optional<Violation> check_sent(const WorldState& state, const Config& config, std::size_t node,
                                    const Message& message) {
    SentCheck check(state, config, node);
    std::visit(check, message);
    return check.found();
}

}  // namespace bullring::sim::explore
