// `bullring resign`: reaches the members over the network, or the node on this machine by its data
// directory, and prints the result.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/log/logging.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/resigning.hpp"

namespace bullring {
namespace {

/// While the leader has not answered, the others are asked this often whether they follow a new
/// one.
constexpr protocol::Duration look_around_every = protocol::milliseconds(200);

/// The part that is the same however the members are reached.
class ReachedMembers : public ResignMembers {
public:
    ReachedMembers(ObserverLoop& loop, const ResignOptions& options)
        : loop_(loop), options_(options), end_(deadline_in(options.timeout)) {}

    bool time_is_up() const override { return std::chrono::steady_clock::now() >= end_; }

    asio::awaitable<void> pause() override {
        co_await sleep_until(loop_, std::min(end_, deadline_in(round_pause)));
    }

    asio::awaitable<bool> request(protocol::NodeId leader, protocol::NodeId successor) override {
        link_.emplace(loop_);
        // Named: g++ 12 destroys a temporary of such an expression twice.
        ObserverMessage request = Observe{options_.cluster, ObserveWhat::resign, successor};
        const auto opened = co_await open(*link_, leader, std::move(request));
        co_return opened.has_value();
    }

    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override {
        auto received = co_await link_->receive(std::min(end_, deadline_in(look_around_every)));
        if (!received) co_return tl::unexpected(std::move(received.error()));
        co_return std::move(received->message);
    }

protected:
    using Opened = tl::expected<void, LinkFailure>;
    virtual asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId leader,
                                         ObserverMessage request) = 0;

    ObserverLoop& loop_;
    const ResignOptions& options_;
    Deadline end_;

private:
    std::optional<ObserverLink> link_;  // to the leader that was asked last
};

class LiveMembers final : public ReachedMembers {
public:
    LiveMembers(ObserverLoop& loop, const ResignOptions& options)
        : ReachedMembers(loop, options), notes_(options.log.level) {}

    asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) override {
        auto answers = co_await ask_members(loop_, options_.peers, options_.cluster,
                                            round_deadline(end_), std::move(enough));
        notes_.say(answers);
        co_return answers;
    }

private:
    asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId leader,
                                 ObserverMessage request) override {
        co_return co_await link.open(leader, options_.peers.at(leader), std::move(request), end_);
    }

    RefusalNotes notes_;
};

/// The node on this machine, which knows who leads after it.
class LocalNode final : public ReachedMembers {
public:
    using ReachedMembers::ReachedMembers;

    asio::awaitable<std::vector<MemberAnswer>> ask(Enough /*enough*/) override {
        std::vector<MemberAnswer> answers;
        answers.push_back(co_await ask_locally(loop_, options_.data_dir, round_deadline(end_)));
        co_return answers;
    }
    /// Why it is of no use to ask it to hand over; empty when it leads.
    asio::awaitable<std::string> why_not() {
        const MemberAnswer node = (co_await ask({})).front();
        if (!node.answer)
            co_return "the node in " + in_quotes(options_.data_dir) +
                " can't be asked: " + node.problem;
        if (node.answer->role == "leader") co_return std::string();
        const std::string name = "node " + std::to_string(node.id.value);
        if (!node.answer->leader) co_return name + " does not lead, and knows nobody who does";
        co_return name + " does not lead, node " + std::to_string(node.answer->leader.value) +
            " does; expected --local on its machine";
    }

private:
    asio::awaitable<Opened> open(ObserverLink& link, protocol::NodeId /*leader*/,
                                 ObserverMessage request) override {
        co_return co_await link.open_locally(options_.data_dir, std::move(request), end_);
    }
};

asio::awaitable<int> resign_and_print(ResignMembers& members, const ResignOptions& options) {
    const ResignOutcome outcome = co_await resign_leader(members, options.to, options.timeout);
    if (outcome.exit_status != 0) {
        print_error(outcome.text);
        co_return outcome.exit_status;
    }
    const std::string text = outcome.text.empty() ? "" : outcome.text + "\n";
    co_return print_answer(text) ? 0 : 1;
}

asio::awaitable<int> resign_locally(ObserverLoop& loop, const ResignOptions& options) {
    LocalNode node(loop, options);
    const std::string why_not = co_await node.why_not();
    if (why_not.empty()) co_return co_await resign_and_print(node, options);
    print_error(why_not);
    co_return 1;
}

asio::awaitable<int> resign_remotely(ObserverLoop& loop, const ResignOptions& options) {
    LiveMembers members(loop, options);
    co_return co_await resign_and_print(members, options);
}

int run_resign(const ResignOptions& options) {
    return run_observer(options, [&](ObserverLoop& loop) {
        return options.data_dir.empty() ? resign_remotely(loop, options)
                                        : resign_locally(loop, options);
    });
}

void refuse_flags_of_others(bool local, Report& report) {
    if (!local) {
        for (const char* flag : {"id", "data-dir"})
            if (report.typed(flag)) report.say(flag, "it needs " + report.flag("local"));
        return;
    }
    std::vector<std::string_view> of_others = security_flags();
    of_others.emplace_back("peers");
    for (const std::string_view flag : of_others)
        if (report.typed(flag))
            report.say(flag, "it means nothing with " + report.flag("local") +
                                 ", which asks the node on this machine only");
}

}  // namespace

Work resign_command(const Given& given) {
    const Request& request = given.request;
    Report& report = given.report;
    ResignOptions options;
    if (request.local.value) {
        options.data_dir = data_dir_of_local_node(given);
        options.cluster = request.cluster.asked().value_or("");
        options.log = request.log();
    } else {
        static_cast<ObserverOptions&>(options) = observer_options(given);
    }
    refuse_flags_of_others(request.local.value, report);
    options.timeout = request.resigned_within.value;
    options.to = request.to.value;
    if (options.to && !options.peers.empty() && !options.peers.contains(options.to)) {
        report.refuse("to", std::to_string(options.to.value),
                      "is not in the peer list, which has " + ids_text(options.peers));
    }
    return {std::move(options), run_resign};
}

}  // namespace bullring
