// `bullring node`: takes part in the elections, and runs the user's hooks.
#include <utility>

#include "src/commands/check_programs.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/member.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/hooks.hpp"
#include "src/runtime/keeper_settings.hpp"
#include "src/runtime/terminal_stop.hpp"

namespace bullring {

int run_node(const NodeOptions& options) {
    if (complain_of_programs({}, options.health.command)) return wrong_usage;
    SharedLeasePage* const page = lasting_lease_page();
    if (page == nullptr) return 1;
    KeeperSettings keeper = keeper_settings(options, "--hang-after");
    keeper.events_file = options.events_file;
    Member member(options, (*page)->pulse(), std::move(keeper), false);
    // A command of `lead` under the process before this one holds the lock until its lease is over.
    const protocol::Duration lock_wait = protocol::seconds(1) + options.config.timing.lease;
    if (const auto opened = member.open(lock_wait); !opened) {
        print_error(opened.error());
        return 1;
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

}  // namespace bullring
