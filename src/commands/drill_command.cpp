// `bullring drill`: shows how far a drill is, and what it has found.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <asio/signal_set.hpp>
#include <unistd.h>

#include "src/commands/commands.hpp"
#include "src/drill/course.hpp"
#include "src/observer/observer_client.hpp"
#include "src/report/logging.hpp"

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

}  // namespace

int run_drill(const DrillOptions& options) {
    return run_observer(options,
                        [&](ObserverLoop& loop) { return drill_and_print(loop, options); });
}

}  // namespace bullring
