// `bullring drill`: shows how far a drill is, and what it has found.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <asio/signal_set.hpp>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/observer_client.hpp"
#include "src/verify/drill/course.hpp"

namespace bullring {
namespace {

/// One line of a terminal that is written over again and again; nothing where stderr is none.
class ProgressLine {
public:
    explicit ProgressLine(LogLevel level)
        : shown_(level != LogLevel::error && ::isatty(STDERR_FILENO) == 1) {}
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const std::string& text) {
        if (!shown_) return;
        std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
        written_ = true;
    }
    /// Before anything else is written.
    void clear() {
        if (written_) std::fputs("\r\x1b[K", stderr);
        written_ = false;
    }

private:
    bool shown_;
    bool written_ = false;
};

/// False when nobody takes it.
bool print_outcome(const DrillOptions& options, const drill::Course& course) {
    const drill::Tally& tally = course.tally();
    const std::string text =
        options.json ? tally.json(options.cluster, course.not_back()) : tally.table();
    if (!print_answer(text)) return false;
    for (const std::string& complaint : tally.complaints()) print_error(complaint);
    return true;
}

asio::awaitable<int> drill_and_print(ObserverLoop& loop, const DrillOptions& options) {
    ProgressLine line(options.log.level);
    const auto complain = [&line](const std::string& text) {
        line.clear();
        print_error(text);
    };
    drill::Course course(loop, options,
                         {[&line](const std::string& text) { line.show(text); }, complain});
    asio::signal_set signals(loop.io, SIGINT, SIGTERM);
    signals.async_wait([&](const asio::error_code& error, int) {
        if (error) return;
        course.stop();
        line.show("ending after this round; another Ctrl-C ends it at once");
        signals.async_wait([&](const asio::error_code& canceled, int) {
            if (canceled) return;
            signals.clear();  // the third one, if nobody takes the answer
            line.clear();
            if (course.begun()) {
                print_error("stopped within a round; what its fault has left goes on");
                print_outcome(options, course);
            }
            std::_Exit(1);
        });
    });
    const bool done = co_await course.run();
    signals.cancel();
    line.clear();
    if (!course.begun() || !print_outcome(options, course)) co_return 1;
    co_return done&& course.tally().sound() ? 0 : 1;
}

int run_drill(const DrillOptions& options) {
    return run_observer(options,
                        [&](ObserverLoop& loop) { return drill_and_print(loop, options); });
}

}  // namespace

Work drill_command(const Given& given) {
    const Request& request = given.request;
    Report& report = given.report;
    DrillOptions options;
    static_cast<ObserverOptions&>(options) = observer_options(given);
    options.time = request.drill_time.asked();
    if (request.rounds.given || !options.time) options.rounds = request.rounds.value;
    if (request.drill_time.given && request.rounds.given)
        report.say("for", "it excludes --rounds; give one");
    options.every = request.every.value;
    options.json = request.json.value;
    options.faults.assign(all_faults.begin(), all_faults.end());
    if (const auto text = request.faults.asked()) {
        auto faults = parse_faults(*text);
        if (faults)
            options.faults = std::move(*faults);
        else
            report.say("faults", faults.error());
    }
    if (!options.peers.empty() && options.peers.size() < drill_members_min)
        report.say("peers", "it has " + ids_text(options.peers) +
                                " only; expected at least 3 members, because fewer have no "
                                "majority without their leader");
    return {std::move(options), run_drill};
}

}  // namespace bullring
