// The classic work of a leader: moves rows of a table into a queue, each row once. Start one on
// each machine; only the leader works. Usage: poller ID PEERS DATA-DIR DATABASE
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <bullring/bullring.hpp>

#include "tests/examples/database.hpp"

int main(int argc, char** argv) {
    if (argc != 5) return std::fputs("usage: poller ID PEERS DATA-DIR DATABASE\n", stderr), 2;
    try {
        bullring::Options options;
        options.id = std::strtoull(argv[1], nullptr, 10);
        options.peers = argv[2];
        options.data_dir = argv[3];
        options.stall_after = std::chrono::seconds(5);
        bullring::Node node(options);
        Database database(argv[4]);
        node.run_while_leader([&](const bullring::Leadership& lead) {
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
    } catch (const std::exception& error) {
        return std::fprintf(stderr, "poller: %s\n", error.what()), 1;
    }
}
