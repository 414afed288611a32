// `bullring lead`: for cron; runs a command if the node on this machine leads now, and ends it by
// the same rules as `run` when the leadership goes.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/local_socket.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/cli/commands/check_programs.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/commands/inherited.hpp"
#include "src/settings/data_files.hpp"
#include "src/task/supervisor/descendants.hpp"
#include "src/task/supervisor/guard_process.hpp"
#include "src/task/supervisor/lead_records.hpp"
#include "src/task/supervisor/supervision.hpp"

namespace bullring {

namespace {

// Of sysexits(3), which cron's wrappers know.
constexpr int no_node = 69;      // EX_UNAVAILABLE
constexpr int not_leading = 75;  // EX_TEMPFAIL
/// How much later than it should the guard may be.
constexpr std::chrono::seconds guard_late_max{1};
/// A node answers at once, or with its next heartbeat if it leads; one that does not hangs.
constexpr std::chrono::seconds answer_max{5};

class LeadCommand {
public:
    LeadCommand(const LeadOptions& options, OwnedFd node, bool ignores_hangup)
        : options_(options),
          ignores_hangup_(ignores_hangup),
          node_(io_, node.release()),
          wait_timer_(io_),
          answer_timer_(io_),
          clear_up_timer_(io_),
          overdue_timer_(io_),
          signals_(io_, SIGINT, SIGTERM) {
        for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH}) signals_.add(signal);
    }

    int run() {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        const LeadRequest request;
        if (!send_record(node_.native_handle(), &request, sizeof request)) return no_node;
        wait_timer_.expires_after(std::chrono::nanoseconds(options_.wait.ns));
        answer_timer_.expires_after(answer_max);
        answer_timer_.async_wait([this](const asio::error_code& error) {
            if (error) return;
            print_error(fmt::format("the node in {} does not answer", options_.data_dir));
            finish(no_node);
        });
        read_node();
        wait_for_signal();
        io_.run();
        return status_;
    }

private:
    void finish(int status) {
        status_ = status;
        io_.stop();
    }

    // ---- The node.

    void read_node() {
        node_.async_wait(
            asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
                if (error) return;
                LeadAnswer answer;
                OwnedFd page;
                const int received =
                    receive_record(node_.native_handle(), &answer, sizeof answer, page);
                if (received == 0) return on_node_gone();
                if (received < 0 && errno == EMFILE) {
                    // The command first: what is printed may have to wait for its reader.
                    guard_ ? end_command() : finish(1);
                    return print_error(
                        "too many open files: cannot take over what the node hands over");
                }
                if (received > 0) on_answer(answer, std::move(page));
                read_node();
            });
    }

    void on_answer(const LeadAnswer& answer, OwnedFd page) {
        answer_timer_.cancel();
        if (const std::string other = another_node(answer); !other.empty()) {
            print_error(other);
            return finish(wrong_usage);
        }
        switch (answer.kind) {
            case LeadAnswer::Kind::not_leading: return wait_for_leadership();
            case LeadAnswer::Kind::lock:
                if (page) locks_.push_back(std::move(page));
                return;
            case LeadAnswer::Kind::go: return start(answer, std::move(page));
            case LeadAnswer::Kind::misplaced:
                if (guard_) return;
                print_error(fmt::format(
                    "node {} starts no command: its data directory {} is not the one of its start "
                    "any more; see its log, and restart it",
                    answer.node, options_.data_dir));
                return finish(no_node);
            case LeadAnswer::Kind::stop:
                if (!guard_ || leadership_ends_) return;
                leadership_ends_ = true;
                end_command();
                return log_line("the leadership is ending; ending the command");
        }
    }

    /// Empty if it is the one that is meant.
    std::string another_node(const LeadAnswer& answer) const {
        const std::string cluster = answer.cluster;
        if (options_.id.value_or(answer.node) == answer.node &&
            options_.cluster.value_or(cluster) == cluster)
            return {};
        return fmt::format("the node in {} is {} of cluster '{}', not {} of cluster '{}'",
                           options_.data_dir, answer.node, cluster,
                           options_.id.value_or(answer.node), options_.cluster.value_or(cluster));
    }

    void wait_for_leadership() {
        wait_timer_.async_wait([this](const asio::error_code& error) {
            if (error || guard_) return;
            // Nothing on stderr, which cron would send by mail from all machines but one.
            if (options_.log.level <= LogLevel::debug) print_error("this node does not lead");
            finish(not_leading);
        });
    }

    void on_node_gone() {
        // The guard ends the connection, too, when it is through with the command.
        node_gone_ = true;
        if (guard_) return end_command();
        log_line("the node on this machine has ended");
        finish(no_node);
    }

    // ---- The command.

    void start(const LeadAnswer& answer, OwnedFd page) {
        if (guard_ || stopping_) return;
        // A node that is started anew after this one could let another command begin.
        if (locks_.empty() || !page) {
            print_error(
                "the node let the command begin without the lock of its data directory, or without "
                "its lease; expected a node of this version");
            return finish(1);
        }
        epoch_ = answer.epoch;
        const protocol::Duration lease{answer.lease_ns};
        GuardSettings settings;
        settings.terminal_group = ::getpgrp();
        settings.kill_after = options_.kill_after;
        // Of a short lease at least a half is left to notice that it is no longer renewed.
        settings.kill_safety = std::min(kill_safety(lease), lease / 4);
        settings.margin = std::min(options_.kill_after + settings.kill_safety, lease / 2);
        settings.id = std::to_string(answer.node);
        settings.cluster = answer.cluster;
        settings.log_format = options_.log.format;
        settings.ignores_hangup = ignores_hangup_;
        settings.command = options_.command;
        guard_ = std::make_unique<GuardProcess>(
            io_, settings, page.get(),
            GuardProcess::Callbacks{[this](const GuardReport& report) { on_report(report); },
                                    [this] { clear_up(); }});
        if (const auto spawned = guard_->spawn(); !spawned) {
            print_error(spawned.error());
            return finish(1);
        }
        // The node sees the end of this connection only when the guard is through with the command.
        guard_->hold(node_.native_handle());
        for (const OwnedFd& lock : locks_) guard_->hold(lock.get());
        guard_->start({epoch_}, -1, {});
    }

    void end_command() {
        guard_->stop({epoch_});
        overdue_timer_.expires_after(std::chrono::nanoseconds(options_.kill_after.ns) +
                                     guard_late_max);
        overdue_timer_.async_wait([this](const asio::error_code& error) {
            if (error) return;
            guard_->kill();
            log_line("the guard of the command does not respond; killing it and the command");
        });
    }

    void on_report(const GuardReport& report) {
        switch (report.kind) {
            case GuardReport::Kind::started: return;
            case GuardReport::Kind::stopped:
                end_command();
                return log_line("the command was stopped; treating it as stalled");
            case GuardReport::Kind::not_started:
                print_error(fmt::format("{}: {}", options_.command.front(),
                                        std::generic_category().message(report.error)));
                return finish(1);
            case GuardReport::Kind::ended:
                if (report.cause == GuardReport::Cause::deadline)
                    log_line("the command was ended: the lease was about to end");
                if (report.cause == GuardReport::Cause::asked && node_gone_ && !leadership_ends_ &&
                    !stopping_)
                    log_line("the command was ended: the node on this machine is gone");
                return finish(exit_status_of(report.status));
        }
    }

    void clear_up() {
        kill_descendants(::getpid(), {}, false);
        if (!reap_all_children()) {
            print_error("the guard of the command was killed, and the command with it");
            return finish(128 + SIGKILL);
        }
        clear_up_timer_.expires_after(look_for_descendants_every);
        clear_up_timer_.async_wait([this](const asio::error_code& error) {
            if (!error) clear_up();
        });
    }

    void wait_for_signal() {
        signals_.async_wait([this](const asio::error_code& error, int signal) {
            if (error) return;
            if (signal != SIGINT && signal != SIGTERM) {
                if (guard_) guard_->signal(signal);
            } else {
                stopping_ = true;
                if (!guard_) return finish(128 + signal);
                end_command();
            }
            wait_for_signal();
        });
    }

    void log_line(const char* text) const {
        if (options_.log.level <= LogLevel::info) print_error(text);
    }

    const LeadOptions& options_;
    bool ignores_hangup_;
    asio::io_context io_{1};
    asio::posix::stream_descriptor node_;
    asio::steady_timer wait_timer_;
    asio::steady_timer answer_timer_;
    asio::steady_timer clear_up_timer_;
    asio::steady_timer overdue_timer_;
    std::vector<OwnedFd> locks_;
    asio::signal_set signals_;
    std::unique_ptr<GuardProcess> guard_;
    std::uint64_t epoch_ = 0;
    bool stopping_ = false;         // by a signal
    bool leadership_ends_ = false;  // as the node says
    bool node_gone_ = false;
    int status_ = 1;
};

int run_lead(const LeadOptions& options) {
    discard_writes_to_missing_streams();
    const bool ignores_hangup = is_ignored(SIGHUP);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
    if (complain_of_programs(options.command, "")) return wrong_usage;
    auto node = connect_locally(options.data_dir, lead_socket_name, SOCK_SEQPACKET);
    if (!node) {
        print_error(fmt::format("no node answers in {}: {}", options.data_dir,
                                std::generic_category().message(node.error())));
        return no_node;
    }
    return LeadCommand(options, std::move(*node), ignores_hangup).run();
}

}  // namespace

Work lead_command(const Given& given) {
    const Request& request = given.request;
    LeadOptions options;
    options.data_dir = data_dir_of_local_node(given);
    if (const auto id = request.id.asked()) options.id = id->value;
    options.cluster = request.cluster.asked();
    options.command = command_of(given);
    options.wait = request.wait_for.value;
    options.kill_after = request.kill_after.value;
    options.log = request.log();
    if (only_checks(given)) return examination(std::move(options));
    return {std::move(options), run_lead};
}

}  // namespace bullring
