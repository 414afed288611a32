// The classic work of a leader: moves rows of a table into a queue, each row once. Start one on
// each machine; only the leader works. Usage: poller ID PEERS DATA-DIR DATABASE
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>

#include <bullring/bullring.hpp>
#include <signal.h>

#include "tests/examples/database.hpp"

int main(int argc, char** argv) {
    if (argc != 5) return std::fputs("usage: poller ID PEERS DATA-DIR DATABASE\n", stderr), 2;
    // Blocked before the first thread begins, in all of them: one of them asks for it.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    try {
        bullring::Options options;
        options.cluster = "poller";
        options.id = std::strtoull(argv[1], nullptr, 10);
        options.peers = argv[2];
        options.data_dir = argv[3];
        options.stall_after = std::chrono::seconds(5);
        bullring::Node node(options);
        Database database(argv[4]);
        // Not in a signal handler: stop() waits until the task has returned and others know of it.
        const std::jthread ender([&](const std::stop_token& over) {
            const timespec look{0, 100'000'000};
            while (!over.stop_requested())
                if (sigtimedwait(&ends, nullptr, &look) > 0) node.stop();
        });
        node.run_while_leader([&](const bullring::Leadership& lead) {
            // Before the first row is read: what an older leader read before cannot be written now.
            if (!database.take_over(lead.epoch())) return;
            while (lead.valid()) {
                const auto row = database.next_row();
                if (row) {
                    // Between here and there this process may stand still for any time, and another
                    // one lead meanwhile. So the database itself looks at the fencing token.
                    if (!database.move_row(*row, lead.epoch())) return;
                    lead.report_progress();
                } else {
                    lead.report_progress();
                    lead.wait_for(std::chrono::milliseconds(20));
                }
            }
        });
    } catch (const bullring::ConfigError& wrong) {  // a line for each wrong option
        return std::fprintf(stderr, "poller: %s\n", wrong.what()), 2;
    } catch (const std::exception& failure) {  // NodeError: a port in use …; or what the task threw
        return std::fprintf(stderr, "poller: %s\n", failure.what()), 1;
    }
}
