// `bullring resign`: reaches the members over the network, and prints the result.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "src/commands/commands.hpp"
#include "src/observer/observer_client.hpp"
#include "src/observer/resigning.hpp"
#include "src/report/logging.hpp"

namespace bullring {
namespace {

/// While the leader has not answered, the others are asked this often whether they follow a new
/// one.
constexpr protocol::Duration look_around_every = protocol::milliseconds(200);

class LiveMembers final : public ResignMembers {
public:
    LiveMembers(ObserverLoop& loop, const ResignOptions& options)
        : loop_(loop),
          options_(options),
          end_(deadline_in(options.timeout)),
          notes_(options.log.level) {}

    bool time_is_up() const override { return std::chrono::steady_clock::now() >= end_; }

    asio::awaitable<void> pause() override {
        co_await sleep_until(loop_, std::min(end_, deadline_in(round_pause)));
    }

    asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) override {
        auto answers = co_await ask_members(loop_, options_.peers, options_.cluster,
                                            round_deadline(end_), std::move(enough));
        notes_.say(answers);
        co_return answers;
    }

    asio::awaitable<bool> request(protocol::NodeId leader, protocol::NodeId successor) override {
        link_.emplace(loop_);
        // Named: g++ 12 destroys a temporary of such an expression twice.
        ObserverMessage request = Observe{options_.cluster, ObserveWhat::resign, successor};
        const auto opened =
            co_await link_->open(leader, options_.peers.at(leader), std::move(request), end_);
        co_return opened.has_value();
    }

    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override {
        auto received = co_await link_->receive(std::min(end_, deadline_in(look_around_every)));
        if (!received) co_return tl::unexpected(std::move(received.error()));
        co_return std::move(received->message);
    }

private:
    ObserverLoop& loop_;
    const ResignOptions& options_;
    Deadline end_;
    RefusalNotes notes_;
    std::optional<ObserverLink> link_;  // to the leader that was asked last
};

asio::awaitable<int> resign_and_print(ObserverLoop& loop, const ResignOptions& options) {
    LiveMembers members(loop, options);
    const ResignOutcome outcome = co_await resign_leader(members, options.to, options.timeout);
    if (outcome.exit_status != 0) {
        print_error(outcome.text);
        co_return outcome.exit_status;
    }
    const std::string text = outcome.text.empty() ? "" : outcome.text + "\n";
    co_return print_answer(text) ? 0 : 1;
}

}  // namespace

int run_resign(const ResignOptions& options) {
    return run_observer(options,
                        [&](ObserverLoop& loop) { return resign_and_print(loop, options); });
}

}  // namespace bullring
