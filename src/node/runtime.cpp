#include "src/node/runtime.hpp"

#include <csignal>
#include <type_traits>
#include <utility>

#include <asio/dispatch.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "protocol/values/dialling.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/duplicate.hpp"
#include "src/base/os/realtime.hpp"

namespace bullring {

using protocol::Duration;
using protocol::Instant;
using protocol::NodeId;

namespace {

TransportOptions transport_options(const NodeOptions& options, const protocol::Start& start,
                                   Showcase* showcase, const TlsSource* security,
                                   Undertaker* undertaker, PeerProblems& problems) {
    const protocol::Timing& timing = options.config.timing;
    TransportOptions result;
    result.self = {options.config.self, start.incarnation};
    result.peers = options.peers;
    result.members = options.config.members;
    result.dial.connect_max = protocol::connect_max(timing);
    result.dial.refused_pause_max = timing.suspect_after;
    result.unacknowledged_max = protocol::unacknowledged_max(timing);
    result.seed = random_bits();
    if (showcase != nullptr) result.refused = &showcase->counts().refused;
    result.is_reserved = &is_reserved_descriptor;
    if (security != nullptr) result.security = security->now();
    result.migrate = options.security.migrate;
    result.not_secured = [&problems](NodeId peer, const std::string& why) {
        problems.not_secured(read_clock(), peer, why);
    };
    if (undertaker != nullptr && options.config.tells_of_its_end())
        result.reached = [undertaker](NodeId peer, int socket) {
            undertaker->mourn_at(peer, socket);
        };
    return result;
}

}  // namespace

Runtime::Runtime(const NodeOptions& options, Parts parts)
    : options_(options),
      io_(1),
      started_at_(parts.start.now),
      had_state_(parts.start.file.has_value()),
      self_{options.config.self, parts.start.incarnation},
      node_(options.config, parts.start),
      members_(options.config.self, options.peers, options.config.members),
      transport_(io_,
                 transport_options(options, parts.start, parts.showcase, parts.security.get(),
                                   parts.undertaker, problems_),
                 *this),
      observers_(io_, transport_, self_, options.config.cluster,
                 ObserverChange{parts.start.now.boottime_ns, {}, {}, {}, {}, {}}, for_observers()),
      watch_(io_),
      writer_(parts.writer),
      pulse_(parts.pulse != nullptr ? *parts.pulse : own_pulse_),
      keeper_(parts.keeper),
      showcase_(parts.showcase),
      leader_log_(parts.start.now),
      reporter_(io_, options.config, way_to_start(options, had_state_), parts.writer, parts.events,
                pulse_,
                [this](const std::string& address) { return transport_.source_of(address); }),
      wake_timer_(io_, [this] { on_event(protocol::Wake{}); }),
      drain_timer_(io_),
      tell_failure_(std::move(parts.tell_failure)) {
    if (parts.handles_signals) signals_.emplace(io_);
    if (showcase_ != nullptr) {
        showcase_->watch_by(pulse_);
        counter_.emplace(self_.id, parts.start.now, showcase_->counts());
    }
    if (!parts.manager.socket.empty()) {
        service_.emplace(io_, parts.manager, [this] { return view(read_clock()); });
        listeners_.push_back(&*service_);
    }
    if (parts.trace) trace_.emplace(self_.id, self_.incarnation, *writer_, *parts.trace);
    if (log_enabled(LogLevel::debug)) trace_log_.emplace(self_.id, self_.incarnation);
    if (parts.state) {
        files_.emplace(
            io_, watch_, options.data_dir, std::move(*parts.state), parts.start.file,
            std::move(parts.control),
            NodeFiles::Callbacks{
                [this](const auto& durable) { on_event(protocol::Persisted{durable}); },
                [this](const std::string& why) { on_fatal(why); },
                [this](OwnedFd listener) { transport_.listen_locally(std::move(listener)); },
                [this](const std::string& name) { host_->file_removed(name); },
                [this](const std::string& why) { on_misplaced(why); }},
            showcase_ != nullptr ? &showcase_->counts().fsyncs : nullptr);
    }
    if (parts.security) {
        credentials_.emplace(
            options.security, Bearer{options.config.cluster, self_.id}, std::move(parts.security),
            CredentialWatch::Callbacks{[this](CredentialWatch::Context renewed) {
                                           asio::post(io_, [this, renewed = std::move(renewed)] {
                                               credentials_problem_.clear();
                                               transport_.renew(renewed);
                                           });
                                       },
                                       [this](const std::string& why) {
                                           asio::post(io_,
                                                      [this, why] { credentials_problem_ = why; });
                                       }});
    }
    if (parts.undertaker != nullptr && watch_.descriptor() >= 0)
        parts.undertaker->hold(watch_.descriptor());
    if (parts.undertaker != nullptr && options.config.tells_of_its_end()) {
        std::vector<std::byte> first;
        std::vector<std::byte> last;
        encode(self_, NoticeMessage(Mourn{}), first);
        encode(self_, NoticeMessage(Dead{parts.death_secret}), last);
        parts.undertaker->set_words(first, last);
        undertaker_.emplace(io_, *parts.undertaker, pulse_);
    }
    listeners_.push_back(&problems_);
    watch_files();
    observers_.set_removed(node_.parts().removed());
    host_ = parts.make_host ? parts.make_host(io_, *this) : std::make_unique<NoTask>(*this);
    transport_.keep_sessions(host_->session_keeper());
    transport_.listen(std::move(parts.listeners));
    if (OwnedFd control = files_ ? files_->take_control() : OwnedFd())
        transport_.listen_locally(std::move(control));
}

Runtime::~Runtime() {
    // Their threads post to the loop: they end before anything that the loop uses.
    end_host();
    credentials_.reset();
    files_.reset();
}

/// Beside those of the data directory. Whoever has made one makes it again.
void Runtime::watch_files() {
    for (const std::string& path : {options_.events_file, options_.trace_file})
        if (writer_ != nullptr && !path.empty() && path != "-")
            watch_.add_file(path, [this] { writer_->make_again(); });
    if (showcase_ != nullptr && !options_.http.socket.empty())
        watch_.add_file(options_.http.socket, [this] { showcase_->socket_removed(); });
}

void Runtime::on_misplaced(const std::string& why) {
    misplaced_ = why;
    host_->directory_misplaced(why);
    on_event(protocol::Wake{});  // it is shown
}

int Runtime::run() {
    if (options_.realtime != RealtimeMode::off &&
        (options_.realtime == RealtimeMode::on ||
         options_.profile == protocol::Profile::realtime)) {
        if (const auto done = make_thread_realtime(); !done) {
            if (options_.realtime == RealtimeMode::on) {
                tell_failure_("--realtime on: " + done.error());
                return 1;
            }
            log(LogLevel::warn, "not in real time: " + done.error());
        }
    }
    if (signals_) {
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_->add(signal);
        wait_for_signal();
        reaper_.emplace(io_);
    }
    tell_start();
    if (trace_) trace_->started(started_at_, options_.config);
    on_event(protocol::Wake{});
    transport_.start_dialling();
    wait_for_alarm();
    wait_for_question();
    asio::post(io_, [this] {
        if (service_) service_->ready();
    });
    turn_to_the_end();
    // A leader that exits on an error emits no `deposed`; the keeper writes it once the process is
    // gone.
    if (exit_status_ == 0) pulse_.over.store(1);
    if (trace_) trace_->stopped(read_clock(), stop_reason_);
    reporter_.stopped(stop_reason_);
    return exit_status_ != 0 ? exit_status_ : host_->exit_status();
}

void Runtime::turn_to_the_end() {
    /// Runs at every end of the loop.
    struct Over {
        Runtime& runtime;
        ~Over() { runtime.lead_no_more(); }
    };
    const Over over{*this};
    while (io_.run_one() > 0) pulse_.turn();
}

/// The one way out of a leadership that has not been ended in order. What comes after it may take
/// its time, and lets others lead: from here on nobody is told any more that this node does. The
/// host keeps what is left of the lease, to end its work in: the sessions last as long as that.
void Runtime::lead_no_more() {
    pulse_.leads.store(0);
    if (showcase_ == nullptr) return;
    showcase_->publish({});
    const Instant now = read_clock();
    protocol::View view = this->view(now);
    if (view.leader == self_.id) {
        view.role = protocol::Role::follower;
        view.leader = protocol::nobody;
        view.lease_left = Duration{0};
    }
    view.why = "has stopped: " + stop_reason_;
    showcase_->show(now, std::move(view));
}

/// Nothing is to be done: that it is read is a turn of the loop.
void Runtime::wait_for_alarm() {
    if (keeper_ == nullptr || keeper_->alarm() < 0) return;
    if (!alarm_) alarm_.emplace(io_, duplicate(keeper_->alarm()).release());
    alarm_->async_wait(asio::posix::descriptor_base::wait_read,
                       [this](const asio::error_code& error) {
                           if (error) return;
                           std::uint64_t count = 0;
                           if (::read(alarm_->native_handle(), &count, sizeof count) < 0) return;
                           wait_for_alarm();
                       });
}

void Runtime::show_leadership(protocol::Epoch epoch) {
    pulse_.leads.store(epoch.value);
    if (epoch && keeper_ != nullptr) keeper_->watch();
}

// ---- Events.

void Runtime::tell(const protocol::Event& event) {
    asio::dispatch(io_, [this, event] { on_event(event); });
}

void Runtime::run_soon(std::function<void()> work) { asio::post(io_, std::move(work)); }

void Runtime::shut_down(const std::string& reason) {
    asio::dispatch(io_, [this, reason] {
        if (!stop_reason_.empty()) return;
        stop_reason_ = reason;
        if (service_) service_->stopping();
        host_->stopping();
        on_event(protocol::StopRequested{});
    });
}

void Runtime::set_health(bool healthy, const std::string& why) {
    asio::dispatch(io_, [this, healthy, why] {
        reasons_.unhealthy = why;
        on_event(protocol::HealthChanged{healthy});
    });
}

void Runtime::set_willing(bool willing, const std::string& why) {
    asio::dispatch(io_, [this, willing, why] {
        reasons_.unwilling = why;
        on_event(protocol::Standing{willing});
    });
}

void Runtime::set_joining(const std::string& what) {
    asio::dispatch(io_, [this, what] {
        if (reasons_.joining == what) return;
        reasons_.joining = what;
        on_event(protocol::Wake{});  // it is shown
    });
}

void Runtime::on_event(const protocol::Event& event) {
    if (stepping_) {
        pending_.push_back(event);
        return;
    }
    stepping_ = true;
    step(event);
    while (!pending_.empty()) {
        const protocol::Event next = std::move(pending_.front());
        pending_.pop_front();
        step(next);
    }
    stepping_ = false;
}

void Runtime::step(const protocol::Event& event) {
    const Instant now = read_clock();
    pulse_.last_step_ns.store(now.boottime_ns, std::memory_order_relaxed);
    actions_.clear();
    node_.step(now, event, actions_);
    for (const protocol::Action& action : actions_) carry_out(action);
    transport_.flush();
    arm_timer(now);
    for (const protocol::Action& action : actions_) follow_up(now, action);
    if (trace_) trace_->add(now, event, actions_);
    if (trace_log_) trace_log_->add(now, event, actions_);
    const std::vector<LeaderTurn>& turns = leader_log_.add(now, event, actions_);
    if (showcase_ != nullptr) show(now, event, turns);
    reporter_.note(now, node_.parts());
    reporter_.add(now, actions_, turns);
}

void Runtime::arm_timer(Instant now) {
    const Duration wait = node_.until_wake(now);
    if (wait < protocol::forever)
        wake_timer_.arm_at(now.boottime_ns + std::max<std::int64_t>(wait.ns, 0));
}

void Runtime::carry_out(const protocol::Action& action) {
    std::visit(
        [this](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::Send>) {
                transport_.send(what.session, what.message);
            } else if constexpr (std::is_same_v<What, protocol::CloseSession>) {
                transport_.flush();  // what was to be said before goes out before the FIN
                transport_.close(what.session);
            } else if constexpr (std::is_same_v<What, protocol::DialNow>) {
                transport_.dial_now(what.peer, what.calls_from);
            } else if constexpr (std::is_same_v<What, protocol::DealWith>) {
                deal_with(what.members);
            } else if constexpr (std::is_same_v<What, protocol::Persist>) {
                if (files_) {
                    files_->write(what.durable);
                } else {
                    pending_.push_back(protocol::Persisted{what.durable});
                }
            } else if constexpr (std::is_same_v<What, protocol::Publish>) {
                if (what.epoch) pulse_.lease_end_ns.store(what.deadline.boottime_ns);
                if (showcase_ != nullptr) showcase_->publish(what);
                host_->publish(what);
            } else if constexpr (std::is_same_v<What, protocol::Deposed>) {
                pulse_.end(what.epoch.value, what.held_until.boottime_ns);
            }
        },
        action);
}

void Runtime::follow_up(Instant now, const protocol::Action& action) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::StartTask>) {
                host_->start(what.epoch);
            } else if constexpr (std::is_same_v<What, protocol::StopTask>) {
                host_->stop(what.epoch, what.reason);
            } else if constexpr (std::is_same_v<What, protocol::LeaderChanged>) {
                const protocol::Instant unled_since = what.unled_since.value_or(now);
                observers_.on_change({now.boottime_ns,
                                      what.leader,
                                      what.epoch,
                                      what.advertised,
                                      {},
                                      protocol::elapsed(unled_since, now)});
                for (NodeListener* one : listeners_) one->leader_changed(now, what);
            } else if constexpr (std::is_same_v<What, protocol::Elected>) {
                show_leadership(what.epoch);
                for (NodeListener* one : listeners_) one->elected(now, what);
            } else if constexpr (std::is_same_v<What, protocol::Deposed>) {
                show_leadership({});
                for (NodeListener* one : listeners_) one->deposed(now, what);
            } else if constexpr (std::is_same_v<What, protocol::MembersChanged>) {
                observers_.set_removed(node_.parts().removed());
                for (NodeListener* one : listeners_) one->members_changed(now, what);
            } else if constexpr (std::is_same_v<What, protocol::PeerUp>) {
                for (NodeListener* one : listeners_) one->peer_changed(now, what.peer, true);
            } else if constexpr (std::is_same_v<What, protocol::PeerDown>) {
                for (NodeListener* one : listeners_) one->peer_changed(now, what.peer, false);
            } else if constexpr (std::is_same_v<What, protocol::HandshakeRefused>) {
                for (NodeListener* one : listeners_) one->handshake_refused(now, what);
            } else if constexpr (std::is_same_v<What, protocol::ResignAnswer> ||
                                 std::is_same_v<What, protocol::MembersAnswer>) {
                answer(what);
            } else if constexpr (std::is_same_v<What, protocol::Stopped>) {
                finish();
            }
        },
        action);
}

}  // namespace bullring
