// `bullring status`: asks every member, prints what they say, and shows by its exit status whether
// a majority agrees on one live leader.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "src/base/log/logging.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {
namespace {

/// A member that is being started is not there yet when the service manager says that it runs.
constexpr protocol::Duration start_time = protocol::seconds(1);

asio::awaitable<std::vector<MemberAnswer>> collect(ObserverLoop& loop,
                                                   const StatusOptions& options) {
    const Deadline end = deadline_in(options.timeout);
    const Deadline started = deadline_in(start_time);
    RefusalNotes notes(options.log.level);
    for (;;) {
        const Deadline asked = deadline_in({});
        const Deadline deadline = options.wait ? round_deadline(end) : end;
        auto answers = co_await ask_members(loop, options.peers, options.cluster, deadline);
        notes.say(answers);
        const bool agreed = agreement(answers).has_value();
        const bool complete = all_reachable(answers) || deadline_in({}) >= started;
        if (!options.wait || (agreed && complete && all_reachable_vote(answers))) co_return answers;
        const Deadline next = deadline_in(round_pause);
        // A round that is cut off by the end would show less than this one.
        const Deadline last = agreed ? end - (next - asked) : end;
        if (next >= last) co_return answers;
        co_await sleep_until(loop, next);
    }
}

asio::awaitable<int> status(ObserverLoop& loop, const StatusOptions& options) {
    const std::vector<MemberAnswer> answers = co_await collect(loop, options);
    const std::string text =
        options.json ? status_json(options.cluster, answers) + '\n' : status_table(answers);
    if (!print_answer(text)) co_return 1;
    if (agreement(answers)) co_return 0;
    print_error(
        why_no_agreement(answers) +
        (options.wait ? "; waited " + protocol::to_text(options.timeout) + " (--timeout)" : ""));
    co_return 1;
}

int run_status(const StatusOptions& options) {
    return run_observer(options, [&](ObserverLoop& loop) { return status(loop, options); });
}

}  // namespace

Work status_command(const Given& given) {
    const Request& request = given.request;
    return {StatusOptions{observer_options(given), request.json.value, request.wait.value,
                          request.answers_within.value},
            run_status};
}

}  // namespace bullring
