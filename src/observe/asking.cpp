#include "src/observe/asking.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/text/text.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

using protocol::NodeId;

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
        member.incarnation = received->sender.incarnation;
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

/// The questions that are under way. Shared with the coroutines' handlers.
class Round : public std::enable_shared_from_this<Round> {
public:
    /// These alone; or those also whom a changed list names, or any list.
    enum class Whom { peers, members, anybody };
    using Asked = std::vector<std::pair<NodeId, Endpoint>>;

    Round(ObserverLoop& loop, Whom whom, Asked peers, std::string cluster, Deadline deadline)
        : loop_(loop),
          whom_(whom),
          peers_(std::move(peers)),
          cluster_(std::move(cluster)),
          deadline_(deadline),
          given_first_until_(deadline_in(given_first)),
          changed_(loop.io, given_first_until_) {}

    asio::awaitable<std::vector<MemberAnswer>> run(Enough enough) {
        for (const auto& [id, endpoint] : peers_)
            if (whom_ == Whom::anybody)
                ask_all_at(endpoint);
            else
                ask_also(id, endpoint, true);
        while (pending_ != 0) {
            asio::error_code ended;
            co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
            if (!ended) changed_.expires_at(Deadline::max());
            give_up_elsewhere();
            const bool is_over = failure_ || (enough && most_agree() && enough(answers()));
            if (ended_ || !is_over) continue;
            ended_ = true;
            for (const Question& question : questions_) question.link->cancel();
        }
        if (failure_) std::rethrow_exception(failure_);
        co_return answers();
    }

    /// Each question's own.
    std::vector<MemberAnswer> all() const {
        std::vector<MemberAnswer> all;
        all.reserve(questions_.size());
        for (const Question& question : questions_) all.push_back(question.answer);
        return all;
    }

private:
    /// An answer from the address that was given is waited for so long, where the list's is sooner.
    static constexpr protocol::Duration given_first = protocol::milliseconds(250);

    struct Question {
        MemberAnswer answer;
        bool given = false;  // its address, by the one who asks
        std::unique_ptr<ObserverLink> link;
    };

    /// Each machine for which its name stands; if that is one, or none, by the name.
    void ask_all_at(const Endpoint& endpoint) {
        ++pending_;
        asio::co_spawn(loop_.io, machines_at(endpoint),
                       [round = shared_from_this()](std::exception_ptr failure,
                                                    std::vector<Endpoint> machines) {
                           --round->pending_;
                           if (failure) round->failure_ = std::move(failure);
                           for (const Endpoint& one : machines)
                               round->ask_also(protocol::nobody, one);
                           round->changed_.cancel();
                       });
    }

    asio::awaitable<std::vector<Endpoint>> machines_at(Endpoint endpoint) {
        ObserverLink link(loop_);
        std::string ignored;
        const std::vector<asio::ip::tcp::endpoint> addresses =
            co_await link.resolve(endpoint, deadline_, ignored);
        std::vector<Endpoint> machines;
        if (addresses.size() > 1)
            for (const asio::ip::tcp::endpoint& address : addresses)
                machines.push_back({address.address().to_string(), endpoint.port});
        else
            machines.push_back(std::move(endpoint));
        co_return machines;
    }

    void ask_also(NodeId id, const Endpoint& endpoint, bool given = false) {
        const std::string address = to_text(endpoint);
        if (ended_ || !asked_.emplace(id, address).second) return;
        Question& question = questions_.emplace_back(Question{
            {id, address, std::nullopt, {}, false}, given, std::make_unique<ObserverLink>(loop_)});
        ++pending_;
        asio::co_spawn(loop_.io,
                       ask(*question.link, question.answer, endpoint, cluster_, deadline_),
                       [round = shared_from_this(), &question](std::exception_ptr failure,
                                                               MemberAnswer answer) {
                           --round->pending_;
                           if (failure) {
                               round->failure_ = std::move(failure);
                           } else {
                               question.answer = std::move(answer);
                               round->on_answer(question.answer);
                           }
                           round->changed_.cancel();
                       });
    }

    void on_answer(const MemberAnswer& from) {
        if (!from.answer) return;
        if (whom_ == Whom::anybody) {
            ask_listed(from.answer->list, [](const auto&) { return true; });
        } else if (whom_ == Whom::members) {
            if (from.answer->list.changed())
                ask_listed(from.answer->list, [&](NodeId id) { return !has_answered(id); });
            ask_listed(newest_list(answers()), [&](NodeId id) { return is_peer(id); });
        }
    }

    /// Another cluster's node, at a mistaken address, may be the first to answer, and knows where
    /// to find others of its own.
    bool most_agree() const { return most_are_of_one_cluster(given()); }

    std::vector<MemberAnswer> given() const {
        std::vector<MemberAnswer> all;
        for (const Question& question : questions_)
            if (question.given) all.push_back(question.answer);
        return all;
    }

    template <class IsAsked>
    void ask_listed(const protocol::Membership& list, const IsAsked& is_asked) {
        for (const protocol::MemberEntry& member : list.entries())
            if (const auto endpoint = parse_endpoint(member.address);
                endpoint && is_asked(member.id))
                ask_also(member.id, *endpoint);
    }

    /// A member that has answered is waited for at no address but the one that the list has.
    void give_up_elsewhere() {
        const bool is_late = std::chrono::steady_clock::now() >= given_first_until_;
        if (whom_ == Whom::anybody || !(is_late || most_agree())) return;
        const protocol::Membership list = newest_list(answers());
        for (const Question& question : questions_) {
            const protocol::MemberEntry* const entry = list.find(question.answer.id);
            const bool is_listed = entry != nullptr && entry->address == question.answer.address;
            if (!question.answer.answer && !is_listed && has_answered(question.answer.id))
                question.link->cancel();
        }
    }

    bool has_answered(NodeId id) const {
        for (const Question& question : questions_)
            if (question.answer.id == id && question.answer.answer) return true;
        return false;
    }

    std::vector<MemberAnswer> answers() const {
        std::map<NodeId, MemberAnswer> by_id;
        const std::vector<MemberAnswer> given = this->given();
        for (const Question& question : questions_) {
            if (!question.given && !may_count_beside(given, question.answer)) continue;
            const auto [known, is_new] = by_id.emplace(question.answer.id, question.answer);
            if (!is_new && !known->second.answer && question.answer.answer)
                known->second = question.answer;
        }
        std::vector<MemberAnswer> all;
        all.reserve(by_id.size());
        for (auto& [id, answer] : by_id) all.push_back(std::move(answer));
        const protocol::Membership list = newest_list(all);
        for (MemberAnswer& one : all) one.listed = listed(one, list);
        std::erase_if(all, [&](const MemberAnswer& one) {
            return !is_peer(one.id) && list.find(one.id) == nullptr;
        });
        return all;
    }

    /// The outcome at the list's address of who was not asked there alone.
    std::optional<ListedAddress> listed(const MemberAnswer& member,
                                        const protocol::Membership& list) const {
        const protocol::MemberEntry* const entry = list.find(member.id);
        if (entry == nullptr || entry->address == member.address) return std::nullopt;
        for (const Question& question : questions_)
            if (question.answer.id == member.id && question.answer.address == entry->address)
                return ListedAddress{entry->address, question.answer.problem};
        return std::nullopt;
    }

    bool is_peer(NodeId id) const {
        return std::any_of(peers_.begin(), peers_.end(),
                           [id](const auto& peer) { return peer.first == id; });
    }

    ObserverLoop& loop_;
    Whom whom_;
    Asked peers_;
    std::string cluster_;
    Deadline deadline_;
    Deadline given_first_until_;
    asio::steady_timer changed_;
    std::deque<Question> questions_;
    std::set<std::pair<NodeId, std::string>> asked_;
    std::size_t pending_ = 0;
    bool ended_ = false;
    std::exception_ptr failure_;
};

}  // namespace

std::string difference(const ObserverRefused& refused) {
    if (refused.field == "cluster" && refused.mine.empty())
        return "it refuses: it is not a member of cluster " + in_quotes(refused.yours);
    if (refused.field == no_member_field) return "it is no member of the cluster any more";
    return "it refuses: " + refused.field + " is " + in_quotes(refused.mine) + " there, " +
           in_quotes(refused.yours) + " here";
}

asio::awaitable<std::vector<MemberAnswer>> ask_members(ObserverLoop& loop, const PeerList& peers,
                                                       std::string cluster, Deadline deadline,
                                                       Enough enough) {
    const auto round = std::make_shared<Round>(loop, Round::Whom::members,
                                               Round::Asked(peers.begin(), peers.end()),
                                               std::move(cluster), deadline);
    co_return co_await round->run(std::move(enough));
}

asio::awaitable<std::vector<MemberAnswer>> ask_only(ObserverLoop& loop, const PeerList& peers,
                                                    std::string cluster, Deadline deadline) {
    const auto round =
        std::make_shared<Round>(loop, Round::Whom::peers, Round::Asked(peers.begin(), peers.end()),
                                std::move(cluster), deadline);
    co_return co_await round->run({});
}

asio::awaitable<std::vector<MemberAnswer>> ask_anybody(ObserverLoop& loop,
                                                       std::vector<Endpoint> addresses,
                                                       std::string cluster, Deadline deadline) {
    Round::Asked asked;
    for (const Endpoint& address : addresses) asked.emplace_back(protocol::nobody, address);
    const auto round = std::make_shared<Round>(loop, Round::Whom::anybody, std::move(asked),
                                               std::move(cluster), deadline);
    co_await round->run({});
    co_return round->all();
}

asio::awaitable<MemberAnswer> ask_locally(ObserverLoop& loop, std::string data_dir,
                                          Deadline deadline) {
    ObserverLink link(loop);
    MemberAnswer member{protocol::nobody, data_dir, std::nullopt, {}, false};
    ObserverMessage request = Observe{"", ObserveWhat::status, protocol::nobody};
    auto opened = co_await link.open_locally(std::move(data_dir), std::move(request), deadline);
    co_return co_await read_status(link, std::move(member), std::move(opened), deadline);
}

}  // namespace bullring
