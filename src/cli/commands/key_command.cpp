// `bullring key`: makes keys, and changes the file of a cluster's keys.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log/logging.hpp"
#include "src/base/os/private_file.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/actions.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/credentials/key_lines.hpp"
#include "src/observe/credential_report.hpp"
#include "src/observe/local_nodes.hpp"
#include "src/observe/observer_client.hpp"
#include "src/security/key_file.hpp"

namespace bullring {

namespace {

constexpr protocol::Duration answers_within = protocol::seconds(1);

int refuse(const std::string& path, const std::string& what) {
    print_error(about_file(path, what));
    return wrong_usage;
}

int print(std::string_view text) {
    // No copy of a key stays behind in a buffer.
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return 0;
    print_error("stdout can't be written");
    return not_done;
}

int make_key(const KeyOptions& options) {
    const auto key = new_key();
    if (!key) {
        print_error(key.error());
        return not_done;
    }
    const SecretText line = line_of(*key);
    if (options.out.empty()) return print(line.view());
    const auto written = create_file(options.out, line.view(), secret_mode);
    if (written) return 0;
    if (written.error().exists)
        return refuse(options.out,
                      "is there already; expected a new one (bullring key add puts a "
                      "key into one that is there)");
    print_error(about_file(options.out, written.error().why));
    return not_done;
}

int list_keys(const std::vector<Key>& keys) {
    std::string text = "ID        USE\n";
    for (const Key& key : keys)
        text += key.id + (&key == keys.data() ? "  dialled with, and accepted\n" : "  accepted\n");
    return print(text);
}

tl::expected<SecretText, std::string> changed(const KeyOptions& options, std::string_view text) {
    if (options.action == KeyAction::use) return with_key_first(text, options.id);
    if (options.action == KeyAction::remove) return without_key(text, options.id);
    const auto key = new_key();
    if (!key) return tl::unexpected(key.error());
    return with_key_added(text, *key);
}

/// The callers and members that would not be let in any more, as the nodes on this machine say. One
/// that nobody has named may have nothing to do with this key: if it can't be asked, it doesn't
/// count.
asio::awaitable<std::vector<std::string>> ask_for_needs(ObserverLoop& loop,
                                                        const KeyOptions& options) {
    const bool is_named = !options.data_dir.empty();
    std::vector<std::string> needs;
    for (const std::string& directory :
         is_named ? std::vector{options.data_dir} : directories_of_local_nodes()) {
        const MemberAnswer node =
            co_await ask_locally(loop, directory, deadline_in(answers_within));
        if (node.answer) {
            const std::vector<std::string> more = needs_of_key(*node.answer, options.id);
            needs.insert(needs.end(), more.begin(), more.end());
        } else if (is_named) {
            needs.push_back("the node in " + in_quotes(directory) +
                            " can't be asked: " + node.problem);
        }
    }
    co_return needs;
}

/// Empty: nobody does.
std::string who_needs(const KeyOptions& options) {
    ObserverLoop loop;
    std::string text;
    for (const std::string& one : run_to_end(loop, ask_for_needs(loop, options)))
        text += (text.empty() ? "" : "; ") + one;
    return text;
}

int run_key(const KeyOptions& options) {
    if (options.action == KeyAction::make) return make_key(options);
    const bool changes = options.action != KeyAction::list;
    const auto turn = changes ? turn_at(options.file) : OwnedFd();
    if (!turn) {
        print_error(turn.error().why);
        return turn.error().status;
    }
    const auto before = read_key_text(options.file);
    if (!before) return refuse(options.file, before.error().why);
    const auto keys = parse_keys(before->view());
    if (!keys) {
        for (const std::string& problem : keys.error()) refuse(options.file, problem);
        return wrong_usage;
    }
    if (!changes) return list_keys(*keys);

    const auto after = changed(options, before->view());
    if (!after) return refuse(options.file, after.error());
    if (options.action == KeyAction::remove && !options.force) {
        if (const std::string who = who_needs(options); !who.empty()) {
            print_error(about_file(options.file, "keeps the key " + options.id +
                                                     ", which may still be needed: " + who +
                                                     " (--force removes it all the same)"));
            return not_done;
        }
    }
    const auto written = replace_file(options.file, after->view(), secret_mode);
    if (!written) {
        print_error(about_file(options.file, written.error().why));
        return not_done;
    }
    const auto now = parse_keys(after->view());
    return now ? list_keys(*now) : not_done;
}

bool is_key_id(std::string_view text) {
    constexpr std::size_t digits = 8;
    return text.size() == digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Work key_command(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    KeyOptions options;
    options.out = request.out.value;
    const Action* const action = checked_action(given);
    if (action == nullptr) return {options, run_key};
    options.action = *protocol::named<KeyAction>(action->name);
    if (options.action != KeyAction::make) {
        refuse_flag("out", action->name, "key new", given);
        options.file = operands.back();
    } else if (request.out.asked() == "") {
        report.refuse("out", options.out, "names no file");
    }
    if (options.action != KeyAction::remove) {
        for (const char* flag : {"data-dir", "id", "cluster", "force"})
            refuse_flag(flag, action->name, "key remove", given);
    } else if (request.data_dir.given || request.id.given) {
        options.data_dir = checked_data_dir(request, environment, request.id.value, report);
    }
    // In a file it would be said of every key to come.
    if (request.force.given && !report.typed("force"))
        report.say("force", "it can only be given on the command line");
    options.force = request.force.value;
    const bool of_one = options.action == KeyAction::use || options.action == KeyAction::remove;
    if (of_one && operands.size() > 1) {
        options.id = operands[1];
        if (!is_key_id(options.id))
            report.add(in_quotes(options.id) +
                       " is no key's ID; expected 8 hex digits, as bullring key list FILE prints "
                       "them");
    }
    return {std::move(options), run_key};
}

}  // namespace bullring
