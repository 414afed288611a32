#include "src/cli/commands/member.hpp"

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "protocol/values/assert.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/startup_pages.hpp"
#include "src/node/open_node.hpp"
#include "src/node/own_name.hpp"
#include "src/task/attach/attach_server.hpp"
#include "src/task/supervisor/lead_server.hpp"

namespace bullring {

namespace {

/// The word of an undertaker takes one round trip, but for a member that can't be reached.
constexpr std::chrono::milliseconds reported_within{500};

void on_broken_invariant(const char* condition, const char* file, int line) {
    print_error(fmt::format("stopped by a broken invariant: {} ({}:{})", condition, file, line));
    // Not abort(): a core dump would hold the sockets open, and the others would wait for their
    // FIN.
    ::_exit(1);
}

/// It watches to the end of the process, longer than any object lives.
Keeper& lasting_keeper(LoopPulse& pulse, KeeperSettings settings) {
    static Keeper* const keeper = new Keeper(pulse, std::move(settings));
    return *keeper;
}

/// It outlives the process.
Undertaker& lasting_undertaker(const Undertaker::Settings& settings) {
    static Undertaker* const undertaker = new Undertaker(settings);
    return *undertaker;
}

}  // namespace

SharedLeasePage* lasting_lease_page() {
    auto created = SharedLeasePage::create();
    if (!created) {
        print_error(fmt::format("cannot share memory with the node's other processes: {}",
                                std::generic_category().message(created.error())));
        return nullptr;
    }
    static SharedLeasePage* const page = new SharedLeasePage(std::move(*created));
    return page;
}

Member::Member(const NodeOptions& options, LoopPulse& pulse, KeeperSettings keeper, bool guarded)
    : options_(options),
      pulse_(pulse),
      keeper_(lasting_keeper(pulse, std::move(keeper))),
      notices_(options.config.tells_of_its_end()),
      undertaker_(lasting_undertaker({guarded && notices_, &pulse,
                                      options.config.timing.promise(options.config.timing.lease)})),
      manager_(take_manager_variables()) {
    // A process that a hook has started may outlive this one.
    pulse_.others_work.store(options.hooks.any() ? LoopPulse::hooks_work : 0);
    std::signal(SIGPIPE, SIG_IGN);  // a reader of the events that goes away is not the node's end
    std::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the statuses of children away
    protocol::set_assert_handler(&on_broken_invariant);
    release_startup_pages();
    // Before the first thread and the first socket.
    const bool kept = keeper_.start();
    const bool watched_over = !notices_ || undertaker_.start();
    arrange_descriptors(closing_orders);  // members may become more
    start_logging(options.log, options.config.self);
    if (!kept)
        log(LogLevel::warn,
            "cannot start the second process; if this one dies or hangs, the others will notice it "
            "later");
    if (!watched_over) log(LogLevel::warn, no_undertaker);
    if (!manager_.problem.empty()) log(LogLevel::warn, manager_.problem);
}

Member::~Member() {
    // Their threads speak to the runtime.
    joiner_.reset();
    health_.reset();
    runtime_.reset();
    http_.reset();
    opened_.reset();
    stop_logging();
    dismiss_watchers();
}

/// After an end in order they end before this process. A service manager takes whom a node leaves
/// for a fault of it, and complains at each restart.
void Member::dismiss_watchers() {
    if (pulse_.over.load() == 0 || pulse_.recorded.load() != 0) return;
    keeper_.stop();
    // By its word the others know that this run is over, and let the next one vote at once.
    undertaker_.finish(reported_within);
}

tl::expected<void, OpenError> Member::open(protocol::Duration lock_wait) {
    raise_descriptor_limit(descriptors_needed(protocol::members_max));
    wait_for_own_name(options_.listen);
    auto opened = open_node(options_, lock_wait);
    if (!opened) return tl::unexpected(opened.error());
    opened_.emplace(std::move(*opened));
    auto http = HttpEndpoint::open(options_, opened_->parts.start);
    if (!http) return tl::unexpected(OpenError{http.error()});
    http_ = std::move(*http);
    return {};
}

/// Adds what else may work under this node's leadership; without promises nothing that could
/// outlive the node.
MakeHost Member::surround(MakeHost host, bool own_task) {
    if (options_.config.quorum == protocol::QuorumMode::none) return host;
    if (options_.attach.mode == AttachMode::on)
        host = [this, own_task, inner = std::move(host)](asio::io_context& io, NodeLink& node) {
            const ClientGuard::Parts guard{
                undertaker_, notices_, {options_.config.self, incarnation()}};
            return std::make_unique<AttachServer>(io, node, options_, pulse_, guard, inner,
                                                  own_task);
        };
    return [this, locks = directory_locks(), inner = std::move(host)](asio::io_context& io,
                                                                      NodeLink& node) {
        return std::make_unique<LeadServer>(io, node, options_, pulse_, locks, inner);
    };
}

int Member::run(MakeHost make_host, bool own_task) {
    opened_->parts.pulse = &pulse_;
    opened_->parts.keeper = &keeper_;
    opened_->parts.undertaker = &undertaker_;
    if (http_) opened_->parts.showcase = &http_->showcase();
    opened_->parts.manager = manager_;
    opened_->parts.make_host = surround(std::move(make_host), own_task);
    const protocol::Incarnation incarnation = opened_->parts.start.incarnation;
    KnownCluster known = known_by(opened_->parts.start.file, options_);
    runtime_.emplace(options_, std::move(opened_->parts));
    if (!options_.health.command.empty())
        health_.emplace(options_.health, options_.config.self, options_.config.cluster, *runtime_);
    if (http_) http_->start(opened_->security, opened_->trail);
    if (!options_.join.empty()) {
        joiner_.emplace(options_, incarnation, std::move(known), opened_->security, *runtime_);
        runtime_->listen(*joiner_);
    }
    const int status = runtime_->run();
    joiner_.reset();
    health_.reset();
    runtime_->end_host();
    return status;
}

}  // namespace bullring
