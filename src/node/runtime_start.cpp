// The first lines of a node in its log and its event stream: as what it starts, and what was done
// to it while it did not run.
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/commit/commit.hpp"
#include "src/base/log/logging.hpp"
#include "src/node/refounding_note.hpp"
#include "src/node/runtime.hpp"

namespace bullring {

namespace {

std::string members_known(const NodeOptions& options) {
    const std::size_t members = options.peers.size();
    return options.config.members.empty()
               ? "a member of no cluster yet"
               : fmt::format("{} member{}", members, members == 1 ? "" : "s");
}

}  // namespace

void Runtime::tell_start() {
    reporter_.started(::getpid(), node_.parts().cluster_id());
    log(LogLevel::info, fmt::format("started, version {}, {}, listening on {}, {}", version_text(),
                                    members_known(options_), to_text(options_.listen),
                                    described(transport_.security())));
    if (files_ && !had_state_)
        log(LogLevel::info, "there was no state file in " + options_.data_dir +
                                ": this node is new, or has lost its disk");
    const protocol::Parts& node = node_.parts();
    // A node that joins by itself asks to be added, or says that it stays out.
    if (options_.join.empty() && node.removed()) reporter_.tell_removed();
    if (files_)
        RefoundingNote(options_.data_dir)
            .tell(!node.removed() && options_.peers.size() == 1,
                  [this](const AskedAction& action) { reporter_.tell_asked(action); });
    for (const std::string& note : options_.start_notes) log(LogLevel::warn, note);
    for (const LooseFile& file : options_.loose_files)
        log(LogLevel::warn, fmt::format("{}: {}; {}", file.subject, file.what, file.remedy));
}

}  // namespace bullring
