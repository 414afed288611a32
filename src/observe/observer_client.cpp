#include "src/observe/observer_client.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>
#include <variant>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/log/logging.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/base/text/text.hpp"

namespace bullring {
namespace {

/// The questions that are under way. Shared with the coroutines' handlers.
struct Round {
    explicit Round(asio::io_context& io) : changed(io, Deadline::max()) {}
    std::vector<MemberAnswer> answers;
    std::vector<std::unique_ptr<ObserverLink>> links;
    std::size_t pending = 0;
    asio::steady_timer changed;
    std::exception_ptr failure;
};

asio::awaitable<MemberAnswer> read_status(ObserverLink& link, MemberAnswer member,
                                          tl::expected<void, LinkFailure> opened,
                                          Deadline deadline) {
    if (!opened) {
        member.problem = opened.error().why;
        member.refused = opened.error().refused;
        co_return member;
    }
    const auto received = co_await link.receive(deadline);
    if (!received) {
        member.problem = received.error().why;
        member.refused = received.error().refused;
        co_return member;
    }
    if (const auto* refused = std::get_if<ObserverRefused>(&received->message)) {
        member.problem = difference(*refused);
        member.refused = true;
        co_return member;
    }
    const auto* state = std::get_if<ObserverState>(&received->message);
    if (state == nullptr) {
        member.problem = "its answer is not a status";
        co_return member;
    }
    auto answer = parse_node_answer(state->json);
    if (!answer) {
        member.problem = answer.error();
    } else if (member.id && answer->id != member.id) {
        member.problem = "it says that it is node " + std::to_string(answer->id.value);
        member.refused = true;
    } else {
        member.id = answer->id;
        member.answer = std::move(*answer);
    }
    co_return member;
}

asio::awaitable<MemberAnswer> ask(ObserverLink& link, MemberAnswer member, Endpoint endpoint,
                                  std::string cluster, Deadline deadline) {
    ObserverMessage request = Observe{std::move(cluster), ObserveWhat::status, protocol::nobody};
    auto opened = co_await link.open(member.id, std::move(endpoint), std::move(request), deadline);
    co_return co_await read_status(link, std::move(member), std::move(opened), deadline);
}

}  // namespace

asio::awaitable<MemberAnswer> ask_locally(ObserverLoop& loop, std::string data_dir,
                                          Deadline deadline) {
    ObserverLink link(loop);
    MemberAnswer member{protocol::nobody, data_dir, std::nullopt, {}, false};
    ObserverMessage request = Observe{"", ObserveWhat::status, protocol::nobody};
    auto opened = co_await link.open_locally(std::move(data_dir), std::move(request), deadline);
    co_return co_await read_status(link, std::move(member), std::move(opened), deadline);
}

int run_observer(const ObserverOptions& options,
                 const std::function<asio::awaitable<int>(ObserverLoop&)>& command) {
    ObserverLoop loop;
    auto security = open_tls(options.security, {options.cluster, protocol::nobody});
    if (!security) {
        print_error(security.error());
        return 1;
    }
    loop.security = std::move(*security);
    int status = 1;
    std::exception_ptr failure;
    asio::co_spawn(loop.io, command(loop), [&](std::exception_ptr error, int result) {
        failure = std::move(error);
        status = result;
        loop.io.stop();
    });
    loop.io.run();
    if (failure) std::rethrow_exception(failure);
    if (loop.lookups != 0) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

std::string difference(const ObserverRefused& refused) {
    if (refused.field == "cluster" && refused.mine.empty())
        return "it refuses: it is not a member of cluster " + in_quotes(refused.yours);
    return "it refuses: " + refused.field + " is " + in_quotes(refused.mine) + " there, " +
           in_quotes(refused.yours) + " here";
}

asio::awaitable<std::vector<MemberAnswer>> ask_members(ObserverLoop& loop, const PeerList& peers,
                                                       std::string cluster, Deadline deadline,
                                                       Enough enough) {
    const auto round = std::make_shared<Round>(loop.io);
    for (const auto& [id, endpoint] : peers) {
        round->answers.push_back({id, to_text(endpoint), std::nullopt, {}, false});
        round->links.push_back(std::make_unique<ObserverLink>(loop));
    }
    std::size_t place = 0;
    for (const auto& [id, endpoint] : peers) {
        ++round->pending;
        asio::co_spawn(
            loop.io, ask(*round->links[place], round->answers[place], endpoint, cluster, deadline),
            [round, place](std::exception_ptr failure, MemberAnswer answer) {
                --round->pending;
                if (failure) {
                    round->failure = std::move(failure);
                } else {
                    round->answers[place] = std::move(answer);
                }
                round->changed.cancel();
            });
        ++place;
    }
    bool ended = false;
    while (round->pending != 0) {
        asio::error_code ignored;
        co_await round->changed.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (ended || !(round->failure || (enough && enough(round->answers)))) continue;
        ended = true;
        for (const auto& link : round->links) link->cancel();
    }
    if (round->failure) std::rethrow_exception(round->failure);
    co_return std::move(round->answers);
}

asio::awaitable<void> sleep_until(ObserverLoop& loop, Deadline deadline) {
    asio::steady_timer timer(loop.io, deadline);
    asio::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Deadline round_deadline(Deadline end) { return std::min(end, deadline_in(round_max)); }

void RefusalNotes::say(const std::vector<MemberAnswer>& members) {
    for (const MemberAnswer& member : members) {
        if (member.refused) say(member.id, member.address, member.problem);
    }
}

void RefusalNotes::say(protocol::NodeId id, const std::string& address,
                       const std::string& problem) {
    std::string& said = said_[id];
    if (silent_ || said == problem) return;
    said = problem;
    print_error("node " + std::to_string(id.value) + " at " + address + ": " + problem);
}

}  // namespace bullring
