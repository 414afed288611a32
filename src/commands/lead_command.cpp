// `bullring lead`: for cron; runs a command if the node on this machine leads now.
#include "src/commands/commands.hpp"

namespace bullring {

int run_lead(const LeadOptions&) { return 69; }

}  // namespace bullring
