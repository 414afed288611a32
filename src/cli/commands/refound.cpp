// `bullring member refound`: when a majority is lost for ever, makes one that is left the only
// member.
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/lease/epoch_bound.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/actions.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/node/refounding_note.hpp"
#include "src/node/storage/refounding.hpp"
#include "src/security/checked_security.hpp"

namespace bullring {
namespace {

/// The node's user could not read a file of root's. 0, or what is wrong.
int become_owner_of(const std::string& directory) {
    struct stat there {};
    if (::geteuid() != 0 || ::stat(directory.c_str(), &there) != 0 || there.st_uid == 0) return 0;
    return ::setegid(there.st_gid) == 0 && ::seteuid(there.st_uid) == 0 ? 0 : errno;
}

/// The deed leaves a trace, or is not done.
tl::expected<Refounding, std::string> refound_with_note(const RefoundOptions& options,
                                                        protocol::Epoch clock, uid_t user) {
    const StateIdentity identity{options.cluster, options.id};
    auto planned = refound(options.data_dir, identity, clock, false);
    if (!planned || !options.others_are_lost || planned->before == planned->after) return planned;
    const RefoundingNote note(options.data_dir);
    if (const std::string why = note.leave(options.id, user); !why.empty())
        return tl::unexpected(why);
    auto done = refound(options.data_dir, identity, clock, true);
    if (!done) note.take_away();
    return done;
}

int run_refound(const RefoundOptions& options) {
    const auto fail = [](const std::string& why) {
        print_error(why);
        return not_done;
    };
    const uid_t user = ::getuid();
    if (const int error = become_owner_of(options.data_dir))
        return fail("cannot become the owner of " + options.data_dir + ": " + reason_text(error));
    const protocol::Epoch clock = protocol::EpochBound::of_clock(read_wall_clock().ms);
    const auto done = refound_with_note(options, clock, user);
    if (!done) return fail(done.error());
    const protocol::Membership& before = done->before.members;
    const std::string only = fmt::format("the only member of cluster {}", options.cluster);
    if (done->before == done->after)
        return print_answer(fmt::format("node {} is {} already\n", options.id.value, only))
                   ? 0
                   : not_done;
    const std::string instead =
        fmt::format("in place of {} (list {})", protocol::ids_text(before), to_text(*before.tag()));
    if (!options.others_are_lost)
        return fail(fmt::format(
            "node {} would be {}, {}. If a majority of them runs, here or elsewhere, or comes back "
            "before it hears of this, it has a leader of its own: two at once. Give "
            "--others-are-lost if it never will; nothing has been changed",
            options.id.value, only, instead));
    return print_answer(fmt::format("node {} is {}, {}; start it, and add the others anew\n",
                                    options.id.value, only, instead))
               ? 0
               : not_done;
}

}  // namespace

Work refound_work(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    RefoundOptions options;
    const Action* const action = checked_action(given);
    if (action == nullptr || operands.size() != 2 || operands.back().empty())
        return {std::move(options), run_refound};
    for (const char* flag : {"id", "peers", "local", "voter", "json", "timeout"})
        refuse_flag(flag, action->name, "those that ask a cluster", given);
    for (const std::string_view flag : security_flags())
        refuse_flag(std::string(flag).c_str(), action->name, "those that ask a cluster", given);
    // In a file it would be said of every loss to come.
    if (request.others_are_lost.given && !report.typed("others-are-lost"))
        report.say("others-are-lost", "it can only be given on the command line");
    if (const auto id = parse_node_id(operands.back()))
        options.id = *id;
    else
        report.add(id.error());
    options.cluster = request.cluster.value;
    options.data_dir = checked_data_dir(request, environment, options.id, report);
    options.others_are_lost = request.others_are_lost.value;
    return {std::move(options), run_refound};
}

}  // namespace bullring
