#include "src/http/service.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <utility>

#include <asio/co_spawn.hpp>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/duplicate.hpp"
#include "src/base/os/private_file.hpp"
#include "src/base/text/json.hpp"
#include "src/base/text/text.hpp"
#include "src/http/failover_answers.hpp"
#include "src/http/page.hpp"
#include "src/http/unix_socket.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {

namespace {

/// A loop that has not turned for so long does not turn.
constexpr std::chrono::seconds alive_within{1};
/// Round trips, and what else the loop alone knows, are left out when it is busy.
constexpr std::chrono::milliseconds details_within{100};
constexpr std::chrono::seconds resign_within{5};
constexpr std::chrono::milliseconds asked_again_after{10};
/// A change is sent to streams so much later: those who have lost a leader elect the next one
/// meanwhile, and need the processors themselves.
constexpr std::chrono::milliseconds streams_wait_for{4};

}  // namespace

HttpService::HttpService(ObserverLoop& loop, const NodeOptions& options,
                         std::vector<OwnedFd> listeners, std::optional<LocalListener>& socket,
                         Showcase& showcase, ActionTrail trail, Earlier earlier)
    : loop_(loop),
      options_(options),
      socket_(socket),
      showcase_(showcase),
      access_{!options.http.socket.empty(), options.http.open_to_all, options.http.token_file},
      trail_(std::move(trail)),
      state_{showcase.started_at(), showcase.started_at(), status_facts(options)},
      history_(showcase.started_at().boottime_ns),
      earlier_(std::move(earlier)),
      changed_(loop.io, duplicate(showcase.changed().fd()).release()),
      streams_timer_(loop.io),
      patience_timer_(loop.io),
      tick_timer_(loop.io),
      routes_(routes()),
      server_(
          loop.io, std::move(listeners),
          [this](const HttpRequest& request, const HttpReplyPtr& reply) {
              take_earlier();
              answer_by(routes_, request, reply);
          },
          [](const std::string& what) { log(LogLevel::error, "http: " + what); }) {}

void HttpService::start() {
    wait_for_change();
    tick();
    server_.start();
}

// ---- Requests.

HttpRoutes HttpService::routes() {
    constexpr std::string_view reads = "GET, HEAD";
    constexpr std::string_view probes = "GET, HEAD, OPTIONS";
    const auto by = [this](auto member) -> HttpHandler { return std::bind_front(member, this); };
    const auto of_state = [this](HttpAnswer (*answer)(const AtTheMoment&)) -> HttpHandler {
        return [this, answer](const HttpRequest&, const HttpReplyPtr& reply) {
            reply->send(answer(now()));
        };
    };
    HttpRoutes rows{
        {"/", reads, by(&HttpService::answer_root)},
        {"/leader", probes, of_state(leader_answer)},
        {"/primary", probes, of_state(leader_answer)},
        {"/follower", probes, of_state(follower_answer)},
        {"/livez", reads, by(&HttpService::answer_alive)},
        {"/liveness", reads, by(&HttpService::answer_alive)},
        {"/readyz", reads, of_state(ready_answer)},
        {"/readiness", reads, of_state(ready_answer)},
        {"/health", reads, of_state(ready_answer)},
        {"/status", reads, by(&HttpService::answer_status)},
        {"/cluster", reads, by(&HttpService::answer_cluster)},
        {"/metrics", reads, by(&HttpService::answer_metrics)},
        {"/events", "GET", by(&HttpService::answer_events)},
        {"/history", reads, by(&HttpService::answer_history)},
        {"/failovers", reads, by(&HttpService::answer_failovers)},
        {"/failovers/#.jsonl", reads, by(&HttpService::answer_failover)},
        {"/resign", "POST", by(&HttpService::answer_resign)},
    };
    for (const PageFile& file : page_files().subspan(1))
        rows.push_back({file.path, reads, [&file](const HttpRequest&, const HttpReplyPtr& reply) {
                            reply->send(page_answer(file));
                        }});
    return rows;
}

void HttpService::answer_root(const HttpRequest& request, const HttpReplyPtr& reply) {
    reply->send(wants_page(request.header("Accept"))
                    ? page_answer(page_files().front())
                    : elector_answer(now(), history_.last_ns(), wall_clock_ns()));
}

void HttpService::answer_history(const HttpRequest&, const HttpReplyPtr& reply) {
    reply->send({200, history_.json(read_clock().boottime_ns, wall_clock_ns())});
}

void HttpService::answer_failovers(const HttpRequest&, const HttpReplyPtr& reply) {
    reply->send(failover_list(showcase_.failovers(), read_clock().boottime_ns, wall_clock_ns()));
}

void HttpService::answer_failover(const HttpRequest& request, const HttpReplyPtr& reply) {
    reply->send(failover_trace(showcase_.failovers(), request.number));
}

void HttpService::answer_alive(const HttpRequest&, const HttpReplyPtr& reply) {
    ask_node(alive_within, [this, reply](bool answered) {
        AtTheMoment at = now();
        at.loop_turns = answered;
        reply->send(alive_answer(at));
    });
}

void HttpService::answer_metrics(const HttpRequest& request, const HttpReplyPtr& reply) {
    const MetricsFormat format = metrics_format(request.header("Accept"));
    ask_node(details_within, [this, format, reply](bool answered) {
        reply->send({200, metrics_text(format, now(), showcase_.counts(), connected(answered)),
                     content_type(format)});
    });
}

void HttpService::answer_status(const HttpRequest&, const HttpReplyPtr& reply) {
    ask_node(details_within, [this, reply](bool answered) {
        state_.status.sessions = connected(answered).credentials;
        state_.status.task = connected(answered).task;
        reply->send(status_answer(now()));
    });
}

void HttpService::answer_events(const HttpRequest&, const HttpReplyPtr& reply) {
    tell_streams();  // the new one begins with what holds now
    streams_.open(*reply, present_event());
}

void HttpService::answer_cluster(const HttpRequest&, const HttpReplyPtr& reply) {
    ask_for_cluster_.push_back(reply);
    if (ask_for_cluster_.size() > 1) return;
    asio::co_spawn(
        loop_.io,
        ask_members(loop_, options_.peers, options_.config.cluster, deadline_in(round_max)),
        [this](const std::exception_ptr& failure, std::vector<MemberAnswer> members) {
            const std::vector<HttpReplyPtr> replies = std::exchange(ask_for_cluster_, {});
            HttpAnswer answer{500, "the members can't be asked\n", "text/plain"};
            // A node knows which cluster it is of, whatever most addresses are of.
            if (const protocol::View& own = now().node.status.view; own.cluster_id)
                members = of_cluster({own.list.founders(), own.cluster_id}, std::move(members));
            if (!failure) answer = {200, status_json(options_.config.cluster, members) + "\n"};
            for (const HttpReplyPtr& one : replies) one->send(answer);
        });
}

void HttpService::answer_resign(const HttpRequest& request, const HttpReplyPtr& reply) {
    std::optional<std::string> tokens;
    if (!access_.token_file.empty()) {
        if (const auto text = read_private_file(access_.token_file)) tokens = text->view();
    }
    AskedAction action{resign_text(protocol::nobody), request.caller(),
                       AskedAction::Answer::refused, ""};
    const auto turn_down = [&](const HttpAnswer& answer, std::string_view why) {
        action.why = why;
        trail_.tell(event_time_now(), action);
        reply->send(answer);
    };
    const auto cannot = [&](const std::string& why) { turn_down(conflict(why), why); };
    if (const auto refused = refusal(request, access_, tokens))
        return turn_down(*refused, trimmed(refused->body));
    action.answer = AskedAction::Answer::failed;
    if (!access_.by_unix_socket) action.caller.credential = "a token";
    const auto asked_for = successor_asked_for(request.body);
    if (const auto* wrong = std::get_if<HttpAnswer>(&asked_for))
        return turn_down(*wrong, trimmed(wrong->body));
    const auto to = std::get<protocol::NodeId>(asked_for);
    action.what = resign_text(to);
    if (resigning_) return cannot("a handover is under way");
    if (const AtTheMoment at = now(); !at.leads())
        return cannot(at.leader()
                          ? "node " + std::to_string(at.leader().value) + " leads; ask there"
                          : "this node does not lead");
    resigning_ = Resigning{showcase_.ask_to_resign(to), Clock::now() + resign_within, reply,
                           std::move(action)};
}

// ---- The node.

const Connected& HttpService::connected(bool loop_answered) {
    static const Connected unknown;
    return loop_answered ? showcase_.connected() : unknown;
}

AtTheMoment HttpService::now() {
    if (loop_.security) {
        const auto security = loop_.security->now();
        state_.status.certificate_not_after = security->not_after();
        state_.status.credential = security->own();
    }
    if (const std::int64_t lost = showcase_.counts().events_lost.load(); lost >= 0)
        state_.status.events_lost = static_cast<std::uint64_t>(lost);
    const ShownView& shown = showcase_.view();
    if (shown.at.boottime_ns > state_.at.boottime_ns) {
        state_.at = shown.at;
        state_.status.view = shown.view;
        state_.sound = shown.sound;
    }
    // The lease first, then the clock: what it says has been true after that.
    const LeaseSnapshot lease = showcase_.lease().value_or(LeaseSnapshot{});
    AtTheMoment at{state_, lease, read_clock()};
    if (at.leads()) showcase_.says_that_it_leads(at.now);
    return at;
}

std::string HttpService::present_event() {
    const AtTheMoment at = now();
    return leader_event({at.now, {at.leader(), at.epoch(), at.advertised()}});
}

void HttpService::ask_node(Clock::duration patience, std::function<void(bool)> then) {
    const Clock::time_point now = Clock::now();
    const bool open = !showcase_.is_answered(last_question_);
    // However often it is asked for, the loop is not woken more often than that.
    if (!open && last_question_ != 0 && now - asked_at_ < asked_again_after) return then(true);
    if (!open) {
        last_question_ = showcase_.ask();
        asked_at_ = now;
    }
    waiting_.push_back({last_question_, now + patience, std::move(then)});
    look_at_those_who_wait();
}

void HttpService::take_earlier() {
    if (!earlier_.valid() ||
        earlier_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return;
    history_.add_earlier(earlier_.get());
}

void HttpService::wait_for_change() {
    changed_.async_wait(asio::posix::descriptor_base::wait_read,
                        [this](const asio::error_code& error) {
                            if (error) return;
                            showcase_.changed().quiet();
                            if (showcase_.was_socket_removed()) make_socket_again();
                            on_change();
                            end_resigning();
                            look_at_those_who_wait();
                            wait_for_change();
                        });
}

/// Those that are connected stay.
void HttpService::make_socket_again() {
    if (!socket_ || socket_->is_there()) return;
    auto again = listen_at(options_.http.socket);
    if (!again)
        return log(LogLevel::error, "http: somebody has removed its socket: " + again.error());
    socket_.reset();
    socket_.emplace(std::move(*again));
    server_.listen_anew(socket_->take());
    log(LogLevel::warn,
        "http: somebody has removed unix:" + options_.http.socket + "; it is there again");
}

void HttpService::on_change() {
    const RecentChanges& changes = showcase_.changes();
    if (changes.count == changes_seen_) return;
    changes.each_from(changes_seen_, [this](const LeaderTurn& turn) { history_.add(turn); });
    changes_seen_ = changes.count;
    if (std::exchange(streams_wait_, true)) return;
    streams_timer_.expires_after(streams_wait_for);
    streams_timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        streams_wait_ = false;
        tell_streams();
    });
}

void HttpService::tell_streams() {
    const RecentChanges& changes = showcase_.changes();
    changes.each_from(changes_sent_,
                      [this](const LeaderTurn& turn) { streams_.tell(leader_event(turn)); });
    changes_sent_ = changes.count;
}

void HttpService::end_resigning() {
    if (!resigning_) return;
    const protocol::ResignAnswer& answer = showcase_.resign_answer();
    if (answer.request.number != resigning_->request) return;
    Resigning done = *std::exchange(resigning_, std::nullopt);
    if (answer.done) done.action.answer = AskedAction::Answer::done;
    done.action.why = answer.why;
    trail_.tell(event_time_now(), done.action);
    done.reply->send(answer.done ? HttpAnswer{202, "{\"done\":true}\n"} : conflict(answer.why));
}

void HttpService::look_at_those_who_wait() {
    const Clock::time_point now = Clock::now();
    const auto first_over =
        std::partition(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
            return !showcase_.is_answered(one.question) && one.until > now;
        });
    const std::vector<Waiting> over(std::make_move_iterator(first_over),
                                    std::make_move_iterator(waiting_.end()));
    waiting_.erase(first_over, waiting_.end());
    for (const Waiting& one : over) one.then(showcase_.is_answered(one.question));
    if (resigning_ && resigning_->until <= now) {
        resigning_->action.why = "not within " + std::to_string(resign_within.count()) + " s";
        trail_.tell(event_time_now(), resigning_->action);
        std::exchange(resigning_, std::nullopt)->reply->send({202, "{\"done\":false}\n"});
    }

    auto next = resigning_ ? resigning_->until : Clock::time_point::max();
    for (const Waiting& one : waiting_) next = std::min(next, one.until);
    if (next == Clock::time_point::max()) return;
    patience_timer_.expires_at(next);
    patience_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) look_at_those_who_wait();
    });
}

void HttpService::tick() {
    streams_.tick();
    tick_timer_.expires_after(std::chrono::seconds(1));
    tick_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) tick();
    });
}

}  // namespace bullring
