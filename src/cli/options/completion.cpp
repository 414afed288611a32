#include "src/cli/options/completion.hpp"

#include <algorithm>
#include <iterator>

#include "src/cli/options/subcommand.hpp"
#include "src/settings/flags.hpp"
#include "src/verify/drill/drill_options.hpp"

namespace bullring {

namespace {

/// The values that can be offered for a flag.
struct Values {
    std::string words;  // with blanks between them
    bool files = false;
    bool directories = false;
    bool commands = false;
    bool interfaces = false;
    bool several = false;  // of the words, with commas between them
};

bool is_literal(std::string_view word) {
    return std::all_of(word.begin(), word.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || c == '0'; });
}

/// Read off the argument as the help shows it: `bully|ring`, `FILE|-`, `D|off`; where that is the
/// same for different things, by the flag.
Values values_of(const Flag& flag) {
    Values values;
    if (flag.name == std::string_view("faults")) {
        values.several = true;
        for (const DrillRequest fault : all_faults)
            values.words += (values.words.empty() ? "" : " ") + std::string(name(fault));
        return values;
    }
    values.interfaces = flag.name == std::string_view("dev");
    std::string_view rest = flag.is_switch() ? "" : flag.argument;
    if (rest == "LEVEL") rest = "trace|debug|info|warn|error";
    while (!rest.empty()) {
        const std::size_t bar = std::min(rest.find('|'), rest.size());
        const std::string_view word = rest.substr(0, bar);
        rest.remove_prefix(std::min(bar + 1, rest.size()));
        values.files |= word == "FILE";
        values.directories |= word == "DIR";
        values.commands |= word == "CMD";
        if (is_literal(word)) values.words += (values.words.empty() ? "" : " ") + std::string(word);
    }
    return values;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::vector<Flag> flags_of(const Subcommand& subcommand) {
    std::vector<Flag> all;
    std::copy_if(flag_table().begin(), flag_table().end(), std::back_inserter(all),
                 [&](const Flag& flag) { return flag.belongs_to(subcommand.name); });
    return all;
}

/// The words that the first operand can be; empty when it is no action.
std::string actions_of(const Subcommand& subcommand) {
    std::string names;
    for (const Action& action : subcommand.actions)
        names += (names.empty() ? "" : " ") + std::string(action.name);
    return names;
}

// ---- bash. --------------------------------------------------------------------------------------

/// The part of a `case` that answers for the value of one flag; empty when nothing is known of it.
std::string bash_value(const Flag& flag) {
    const Values values = values_of(flag);
    std::string generate;
    if (!values.words.empty()) generate += " -W '" + values.words + "'";
    if (values.files) generate += " -f";
    if (values.directories) generate += " -d";
    if (values.commands) generate += " -c";
    if (values.interfaces) generate += " -W \"$(_bullring_interfaces)\"";
    if (flag.is_switch()) return {};
    if (values.several)
        return std::string("            --") + flag.name + ") _bullring_several '" + values.words +
               "'; return ;;\n";
    return std::string("            --") + flag.name + ") " +
           (generate.empty() ? ""
                             : "mapfile -t COMPREPLY < <(compgen" + generate + " -- \"$word\"); ") +
           "return ;;\n";
}

/// The action first, then files.
std::string bash_operands(const Subcommand& subcommand) {
    const std::string actions = actions_of(subcommand);
    if (actions.empty()) return {};
    return "        if ((COMP_CWORD == 2)); then words='" + actions +
           " '\"$words\"; else files=(-f); fi\n";
}

std::string bash_subcommand(const Subcommand& row) {
    std::string names = "--help --version";
    std::string values;
    for (const Flag& flag : flags_of(row)) {
        names += std::string(" --") + flag.name;
        values += bash_value(flag);
    }
    return std::string("    ") + row.name + ")\n        case \"$before\" in\n" + values +
           "        esac\n        words='" + names + (row.takes_command ? " --" : "") + "'\n" +
           bash_operands(row) + "        ;;\n";
}

std::string bash_script(const std::vector<std::string>& topics) {
    std::string subcommands = "help completion";
    std::string cases;
    for (const Subcommand& row : subcommand_table()) {
        subcommands += std::string(" ") + row.name;
        cases += bash_subcommand(row);
    }
    return R"(# Completion of bullring's command line for bash: made by `bullring completion bash`.
_bullring_interfaces() (
    cd /sys/class/net 2>/dev/null && set -- */ && echo "${@%/}"
)
_bullring_several() {
    # The words of the list that are not given yet, behind the last comma.
    local word="${COMP_WORDS[COMP_CWORD]}" before='' left='' one
    [[ "$word" != *,* ]] || before="${word%,*},"
    for one in $1; do [[ ",$before" == *",$one,"* ]] || left+=" $one"; done
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$left" -- "${word##*,}")
    compopt -o nospace 2>/dev/null
}
_bullring() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}" words='' i
    local -a files=()
    COMPREPLY=()
    for ((i = 2; i < COMP_CWORD; ++i)); do
        [[ "${COMP_WORDS[i]}" == -- ]] || continue
        # The rest is another program's command line.
        if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
        fi
        return
    done
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '--help --version )" +
           subcommands + R"(' -- "$word")
        return
    fi
    case "${COMP_WORDS[1]}" in
    help) words=')" +
           joined(topics) + R"(' ;;
    completion) words='bash zsh' ;;
)" + cases +
           R"(    esac
    mapfile -t COMPREPLY < <(compgen "${files[@]}" -W "$words" -- "$word")
}
complete -o filenames -F _bullring bullring
)";
}

// ---- zsh. ---------------------------------------------------------------------------------------

/// On one line, within single quotes and what _arguments takes for its own marks.
std::string zsh_text(std::string_view text) {
    std::string quoted;
    for (const char c : text) {
        if (c == '\'') {
            quoted += "'\\''";
        } else if (c == '[' || c == ']' || c == ':') {
            quoted += {'\\', c};
        } else {
            quoted += c;
        }
    }
    return quoted;
}

std::string zsh_flag(const Flag& flag) {
    std::string spec = std::string("--") + flag.name + "[" + zsh_text(flag.help) + "]";
    if (!flag.is_switch()) {
        const Values values = values_of(flag);
        spec += ":" + zsh_text(flag.argument) + ":";
        if (values.files) {
            spec += "_files";
        } else if (values.directories) {
            spec += "_files -/";
        } else if (values.commands) {
            spec += "_command_names -e";
        } else if (values.interfaces) {
            spec += "_net_interfaces";
        } else if (values.several) {
            spec += "_values -s , " + std::string(flag.name) + " " + values.words;
        } else if (!values.words.empty()) {
            spec += "(" + values.words + ")";
        } else {
            spec += " ";
        }
    }
    return "            '" + spec + "'\n";
}

std::string zsh_script(const std::vector<std::string>& topics) {
    std::string subcommands;
    std::string cases;
    for (const Subcommand& row : subcommand_table()) {
        subcommands += std::string("        '") + row.name + ":" + zsh_text(row.summary) + "'\n";
        cases += std::string("    ") + row.name + ")\n        specs=(\n";
        for (const Flag& flag : flags_of(row)) cases += zsh_flag(flag);
        if (const std::string actions = actions_of(row); !actions.empty())
            cases += "            '1:action:(" + actions + ")'\n            '*:file:_files'\n";
        cases += "        )\n        ;;\n";
    }
    return R"(#compdef bullring
# Completion of bullring's command line for zsh: made by `bullring completion zsh`.
_bullring() {
    local -a subcommands specs
    subcommands=(
)" + subcommands +
           R"(        'help:Show a page of the manual'
        'completion:Print the completion for a shell'
    )
    if ((CURRENT == 2)); then
        _describe subcommand subcommands
        return
    fi
    local -i dashes=${words[(i)--]}
    if ((dashes < CURRENT)); then
        # The rest is another program's command line.
        shift $dashes words
        ((CURRENT -= dashes))
        _normal
        return
    fi
    case $words[2] in
    help)
        _values topic )" +
           joined(topics) + R"(
        return
        ;;
    completion)
        _values shell bash zsh
        return
        ;;
)" + cases +
           R"(    esac
    shift words
    ((CURRENT -= 1))
    _arguments $specs '--help[print the help and exit]' '--version[print the version and exit]'
}
if [[ $funcstack[1] == _bullring ]]; then _bullring "$@"; else compdef _bullring bullring; fi
)";
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<std::string>& topics) {
    if (shell == "bash") return bash_script(topics);
    if (shell == "zsh") return zsh_script(topics);
    return {};
}

}  // namespace bullring
