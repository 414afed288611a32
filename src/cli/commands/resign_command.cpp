// `bullring resign`: reaches the members over the network, or the node on this machine by its data
// directory, and prints the result.
#include <string>
#include <utility>

#include "src/base/log/logging.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/reached_cluster.hpp"
#include "src/observe/resigning.hpp"

namespace bullring {
namespace {

asio::awaitable<int> resign_and_print(AskedCluster& members, const ResignOptions& options) {
    const Outcome outcome = co_await resign_leader(members, options.to, options.timeout);
    if (outcome.exit_status != 0) {
        print_error(outcome.text);
        co_return outcome.exit_status;
    }
    const std::string text = outcome.text.empty() ? "" : outcome.text + "\n";
    co_return print_answer(text) ? 0 : 1;
}

asio::awaitable<int> resign_locally(ObserverLoop& loop, const ResignOptions& options) {
    LocalNode node(loop, options.data_dir, options.cluster, options.timeout);
    const std::string why_not = co_await node.why_not();
    if (why_not.empty()) co_return co_await resign_and_print(node, options);
    print_error(why_not);
    co_return 1;
}

asio::awaitable<int> resign_remotely(ObserverLoop& loop, const ResignOptions& options) {
    RemoteCluster members(loop, options, options.timeout);
    co_return co_await resign_and_print(members, options);
}

int run_resign(const ResignOptions& options) {
    return run_observer(options, [&](ObserverLoop& loop) {
        return options.data_dir.empty() ? resign_remotely(loop, options)
                                        : resign_locally(loop, options);
    });
}

}  // namespace

Work resign_command(const Given& given) {
    const Request& request = given.request;
    ResignOptions options;
    static_cast<AskingOptions&>(options) = asking_options(given);
    options.timeout = request.resigned_within.value;
    options.to = request.to.value;
    return {std::move(options), run_resign};
}

}  // namespace bullring
