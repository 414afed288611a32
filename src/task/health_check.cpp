#include "src/task/health_check.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/values/timing.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/child_variables.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/readiness.hpp"
#include "src/base/os/watch_child.hpp"
#include "src/task/shell_command.hpp"

namespace bullring {

namespace {

constexpr int exit_not_found = 127;

int whole_ms(protocol::Duration duration) {
    return static_cast<int>(std::min<std::int64_t>((duration.ns + 999'999) / 1'000'000, INT32_MAX));
}

std::string end_text(int status) {
    if (WIFSIGNALED(status)) return fmt::format("signal {} of health command", WTERMSIG(status));
    if (WEXITSTATUS(status) == 0) return "";
    return fmt::format("exit {} of health command{}", WEXITSTATUS(status),
                       WEXITSTATUS(status) == exit_not_found ? ", which is not found" : "");
}

}  // namespace

HealthCheck::HealthCheck(HealthOptions options, protocol::NodeId self, const std::string& cluster,
                         NodeLink& node)
    : options_(std::move(options)),
      node_id_(environment_entry(variables::node_id, std::to_string(self.value))),
      cluster_name_(environment_entry(variables::cluster_name, cluster)),
      node_(node) {
    thread_ = quiet_thread([this] { run(); });
}

HealthCheck::~HealthCheck() {
    stop_.ring();
    thread_.join();
}

void HealthCheck::run() {
    std::int64_t failures = 0;
    bool healthy = true;
    do {
        const std::string wrong = check();
        if (stopping()) return;
        failures = wrong.empty() ? 0 : std::min(failures + 1, options_.failures);
        const bool now_healthy = healthy ? failures < options_.failures : failures == 0;
        if (!wrong.empty() && failures < options_.failures)
            log(LogLevel::info,
                fmt::format("{} ({} of {} in a row)", wrong, failures, options_.failures));
        if (now_healthy == healthy) continue;
        healthy = now_healthy;
        if (healthy)
            log(LogLevel::info, "healthy again");
        else
            log(LogLevel::warn, "unhealthy: " + wrong + "; this node does not stand");
        node_.set_health(healthy, wrong);
    } while (pause());
}

std::string HealthCheck::check() {
    const auto child = start_shell_command(options_.command, {node_id_, cluster_name_});
    if (!child)
        return fmt::format("cannot start the health command: {}",
                           std::generic_category().message(child.error()));
    const bool ended =
        watch_child(*child, {stop_.fd()}, whole_ms(options_.timeout)) == ChildWatch::ended;
    // Processes that it has started must not pile up.
    ::kill(-*child, SIGKILL);
    const int status = wait_for_child(*child);
    if (ended) return end_text(status);
    return fmt::format("health command has not ended within {}", to_text(options_.timeout));
}

bool HealthCheck::stopping() const { return is_ready(stop_.fd()); }

bool HealthCheck::pause() {
    pollfd ready{stop_.fd(), POLLIN, 0};
    return ::poll(&ready, 1, whole_ms(options_.interval)) == 0;
}

}  // namespace bullring
