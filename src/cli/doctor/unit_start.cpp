#include "src/cli/doctor/unit_start.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/stat.h>

#include "src/base/text/text.hpp"

namespace bullring::doctor {

namespace {

/// The first of those that systemd draws from for DynamicUser=.
constexpr uid_t dynamic_uid = 61184;

template <class Number>
std::optional<Number> number(const std::string& text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<gid_t> group(const std::string& name) {
    if (const ::group* const found = ::getgrnam(name.c_str())) return found->gr_gid;
    return number<gid_t>(name);
}

/// Whose process it is, and the variables that tell it.
bool find_user(const UnitFile& unit, UnitStart& start, Findings& findings) {
    const bool dynamic = unit.is_on("DynamicUser");
    const std::string name = unit.value("User");
    const ::passwd* known = name.empty() && !dynamic ? ::getpwuid(0) : ::getpwnam(name.c_str());
    if (const auto uid = number<uid_t>(name); known == nullptr && uid) known = ::getpwuid(*uid);
    UnitUser& user = start.user;
    if (known != nullptr) {
        user = {known->pw_name, known->pw_uid, known->pw_gid, {}};
        if (!name.empty())
            start.variables.insert({{"HOME", known->pw_dir}, {"SHELL", known->pw_shell}});
    } else if (dynamic) {
        user = {name.empty() ? "of the unit's own" : name, dynamic_uid, dynamic_uid, {}};
        start.variables["HOME"] = "/";
    } else {
        findings.fail("User=" + name, "this machine has no such user",
                      "make it (systemd-sysusers makes the package's), or name another");
        return false;
    }
    if (!name.empty()) start.variables.insert({{"USER", user.name}, {"LOGNAME", user.name}});
    if (const std::string own = unit.value("Group"); !own.empty() && !(dynamic && !group(own))) {
        const auto found = group(own);
        if (!found) {
            findings.fail("Group=" + own, "this machine has no such group",
                          "make it, or name another");
            return false;
        }
        user.gid = *found;
    }
    int count = 64;
    user.groups.resize(static_cast<std::size_t>(count));
    if (known == nullptr ||
        ::getgrouplist(user.name.c_str(), user.gid, user.groups.data(), &count) < 0)
        count = 0;
    user.groups.resize(static_cast<std::size_t>(count));
    for (const std::string& more : unit.words("SupplementaryGroups"))
        if (const auto found = group(more)) user.groups.push_back(*found);
    return true;
}

/// Those that systemd makes before a start, and gives to the user with all that is in them.
void take_directories(const UnitFile& unit, UnitStart& start, Findings& findings) {
    constexpr std::array<std::array<const char*, 3>, 5> kinds{
        {{"StateDirectory", "/var/lib/", "STATE_DIRECTORY"},
         {"RuntimeDirectory", "/run/", "RUNTIME_DIRECTORY"},
         {"LogsDirectory", "/var/log/", "LOGS_DIRECTORY"},
         {"CacheDirectory", "/var/cache/", "CACHE_DIRECTORY"},
         {"ConfigurationDirectory", "/etc/", "CONFIGURATION_DIRECTORY"}}};
    for (const auto& [setting, above, variable] : kinds) {
        std::string& named = start.variables[variable];
        for (const std::string& word : unit.words(setting)) {
            const std::string path = above + word.substr(0, word.find(':'));
            named += (named.empty() ? "" : ":") + path;
            start.directories.push_back(path);
            if (std::string_view(setting) == "ConfigurationDirectory") continue;
            struct ::stat there {};
            const bool exists = ::stat(path.c_str(), &there) == 0;
            if (exists && there.st_uid == start.user.uid && !unit.is_on("DynamicUser")) continue;
            start.by_manager.made.push_back(path);
            if (exists && there.st_uid != start.user.uid)
                findings.note(setting + ("=" + word),
                              fmt::format("{} is another user's; a start gives it to {}, with all "
                                          "that is in it",
                                          path, start.user.name));
        }
        if (named.empty()) start.variables.erase(variable);
    }
}

/// The unit's own come before those of its files.
bool take_variables(const UnitFile& unit, UnitStart& start, Findings& findings) {
    start.variables["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    for (const std::string& word : unit.words("Environment"))
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            start.variables[word.substr(0, equals)] = word.substr(equals + 1);
    for (const std::string& file : unit.values("EnvironmentFile")) {
        const bool optional = file.starts_with('-');
        const std::string path = file.substr(optional ? 1 : 0);
        if (const auto text = read_text_file(path)) {
            for (const auto& [name, value] : read_variables(*text)) start.variables[name] = value;
        } else if (!optional) {
            findings.fail("EnvironmentFile=" + path, text.error().why,
                          "make it, or write EnvironmentFile=-" + path);
            return false;
        }
    }
    return true;
}

void check_families(const UnitFile& unit, bool addresses, Findings& findings) {
    std::vector<std::string> missing;
    std::vector<std::string> needed{"AF_INET", "AF_INET6", "AF_UNIX"};
    if (addresses) needed.insert(needed.end(), {"AF_NETLINK", "AF_PACKET"});
    for (const std::string& family : needed)
        if (!unit.lists("RestrictAddressFamilies", family, true)) missing.push_back(family);
    if (missing == std::vector<std::string>{"AF_INET6"} ||
        missing == std::vector<std::string>{"AF_INET"})
        findings.warn("RestrictAddressFamilies=", missing.front() + " is not among them",
                      "add it, or give no member a name or an address of that kind");
    else if (!missing.empty())
        findings.fail("RestrictAddressFamilies=",
                      fmt::format("without {} it can't work", fmt::join(missing, ", ")),
                      fmt::format("add RestrictAddressFamilies={}", fmt::join(missing, " ")));
}

void check_manner(const UnitFile& unit, Findings& findings) {
    if (unit.value("KillMode") != "process")
        findings.warn("KillMode=" + unit.value("KillMode"),
                      "whom a killed node leaves to end its work and to tell the others is killed, "
                      "too: they wait for the end of the lease",
                      "KillMode=process, see bullring-service(7)");
    if (unit.is_on("PrivateUsers") && !unit.words("AmbientCapabilities").empty())
        findings.warn(
            "AmbientCapabilities=", "they are of no use for the network with PrivateUsers=yes",
            "PrivateUsers=no");
}

}  // namespace

tl::expected<std::string, std::string> subcommand_of(const UnitFile& unit) {
    const std::string line = unit.value("ExecStart");
    const auto words = unit_words(line.substr(line.starts_with('-') || line.starts_with(':')));
    const bool ours = words.size() > 1 &&
                      std::filesystem::path(words[0]).filename() == "bullring" &&
                      (words[1] == "node" || words[1] == "run" || words[1] == "address");
    if (ours) return words[1];
    return tl::unexpected("starts " + (line.empty() ? "nothing" : in_quotes(line)) +
                          "; expected one that starts bullring node, run or address");
}

std::optional<UnitStart> start_of(const UnitFile& unit, Findings& findings) {
    UnitStart start;
    if (!find_user(unit, start, findings) || !take_variables(unit, start, findings))
        return std::nullopt;
    take_directories(unit, start, findings);
    start.by_manager.tasks_max = number<std::uint64_t>(unit.value("TasksMax"));
    const std::string line = unit.value("ExecStart");
    start.arguments =
        command_words(line.substr(line.starts_with('-') || line.starts_with(':')), start.variables);
    start.program = start.arguments.front();
    start.arguments.erase(start.arguments.begin());
    findings.ok("unit " + unit.name(),
                fmt::format("{}, as user {}", fmt::join(unit.files(), ", "), start.user.name));
    check_families(unit, start.arguments.front() == "address", findings);
    check_manner(unit, findings);
    return start;
}

}  // namespace bullring::doctor
