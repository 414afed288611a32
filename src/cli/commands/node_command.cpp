// `bullring node`: takes part in the elections, and runs the user's hooks.
#include <utility>

#include "src/base/log/logging.hpp"
#include "src/base/os/first_process.hpp"
#include "src/cli/commands/check_programs.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/commands/inherited.hpp"
#include "src/cli/commands/member.hpp"
#include "src/security/checked_security.hpp"
#include "src/task/hooks.hpp"
#include "src/task/terminal_stop.hpp"
#include "src/watch/keeper_settings.hpp"

namespace bullring {

namespace {

int run_node(const NodeOptions& options) {
    discard_writes_to_missing_streams();
    leave_first_process();
    if (complain_of_programs({}, options.health.command)) return wrong_usage;
    SharedLeasePage* const page = lasting_lease_page();
    if (page == nullptr) return 1;
    KeeperSettings keeper = keeper_settings(options, "--hang-after");
    keeper.events_file = options.events_file;
    Member member(options, (*page)->pulse(), std::move(keeper), false);
    // A command of `lead` under the process before this one holds the lock until its lease is over.
    const protocol::Duration lock_wait = protocol::seconds(1) + options.config.timing.lease;
    if (const auto opened = member.open(lock_wait); !opened) {
        print_error(opened.error().what);
        return opened.error().wrong_setting ? wrong_usage : 1;
    }
    MakeHost make_hooks;
    if (options.hooks.any())
        make_hooks = [&options](asio::io_context& io, NodeLink& node) {
            return std::make_unique<Hooks>(io, node, options.hooks, options.config,
                                           options.config.timing.step_down_timeout, MakeHost{});
        };
    return member.run([&make_hooks](asio::io_context& io, NodeLink& node) {
        return std::make_unique<TerminalStop>(io, node, make_hooks);
    });
}

}  // namespace

Work node_command(const Given& given) {
    NodeOptions options = checked(given.request, given.environment, {}, given.report);
    if (only_checks(given)) return examination(given, std::move(options));
    return {std::move(options), run_node};
}

}  // namespace bullring
