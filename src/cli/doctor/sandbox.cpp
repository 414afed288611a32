#include "src/cli/doctor/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/text/failure_text.hpp"

namespace bullring::doctor {

namespace {

enum class View : std::uint8_t { writable, read_only, empty, hidden };
using Views = std::vector<std::pair<std::string, View>>;

/// False with errno.
bool show_as(const std::string& path, View view) {
    const char* const place = path.c_str();
    struct ::stat there {};
    if (::stat(place, &there) != 0) return errno == ENOENT;
    if (view == View::writable || view == View::read_only) {
        ::mount_attr change{};
        (view == View::read_only ? change.attr_set : change.attr_clr) = MOUNT_ATTR_RDONLY;
        return ::mount(place, place, nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
               ::mount_setattr(AT_FDCWD, place, AT_RECURSIVE, &change, sizeof change) == 0;
    }
    if (!S_ISDIR(there.st_mode))  // by a file that root alone may open
        return ::mount("/proc/kmsg", place, nullptr, MS_BIND, nullptr) == 0;
    const char* const mode = view == View::hidden ? "mode=000" : "mode=1777";
    return ::mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, mode) == 0;
}

/// Those above come first, as systemd has it.
Views views_of(const UnitFile& unit, const UnitStart& start) {
    Views views;
    const auto add = [&](View view, const std::vector<std::string>& paths) {
        for (const std::string& path : paths)
            views.emplace_back(path.substr(std::min(path.find('/'), path.size())), view);
    };
    const bool dynamic = unit.is_on("DynamicUser");
    const std::string system = dynamic ? "strict" : unit.value("ProtectSystem");
    const std::vector<std::string> homes{"/home", "/root", "/run/user"};
    if (system == "strict") {
        add(View::read_only, {"/"});
        add(View::writable, {"/dev", "/proc", "/sys"});
    } else if (system == "full" || boolean_named(system).value_or(false)) {
        add(View::read_only, {"/usr", "/boot", "/efi"});
        if (system == "full") add(View::read_only, {"/etc"});
    }
    const std::string home = unit.value("ProtectHome");
    if (boolean_named(home).value_or(false))
        add(View::hidden, homes);
    else if (home == "tmpfs")
        add(View::empty, homes);
    else if (home == "read-only" || dynamic)
        add(View::read_only, homes);
    if (unit.is_on("PrivateTmp") || dynamic) add(View::empty, {"/tmp", "/var/tmp"});
    add(View::read_only, unit.words("ReadOnlyPaths"));
    add(View::writable, unit.words("ReadWritePaths"));
    add(View::writable, start.directories);
    add(View::hidden, unit.words("InaccessiblePaths"));
    std::stable_sort(views.begin(), views.end(),
                     [](const auto& one, const auto& two) { return one.first < two.first; });
    return views;
}

/// False with errno.
bool enter_file_system(const UnitFile& unit, const UnitStart& start) {
    const int network = unit.is_on("PrivateNetwork") ? CLONE_NEWNET : 0;
    if (::unshare(CLONE_NEWNS | network) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
        return false;
    const Views views = views_of(unit, start);
    return std::all_of(views.begin(), views.end(),
                       [](const auto& one) { return show_as(one.first, one.second); });
}

void take_limits(const UnitFile& unit) {
    constexpr std::pair<const char*, __rlimit_resource> kinds[] = {{"LimitNOFILE", RLIMIT_NOFILE},
                                                                   {"LimitNPROC", RLIMIT_NPROC},
                                                                   {"LimitMEMLOCK", RLIMIT_MEMLOCK},
                                                                   {"LimitRTPRIO", RLIMIT_RTPRIO}};
    const auto number = [](const std::string& text) -> rlim_t {
        if (text == "infinity") return RLIM_INFINITY;
        char* end = nullptr;
        const rlim_t count = std::strtoull(text.c_str(), &end, 10);
        const std::size_t power = std::string_view("KMGTPE").find(*end);  // of 1024
        return *end == 0 || power == std::string_view::npos ? count : count << 10U * (power + 1);
    };
    for (const auto& [setting, kind] : kinds) {
        const std::string value = unit.value(setting);
        if (value.empty()) continue;
        const std::size_t colon = value.find(':');
        const ::rlimit limit{number(value.substr(0, colon)),
                             number(colon == std::string::npos ? value : value.substr(colon + 1))};
        ::setrlimit(kind, &limit);
    }
    // By a filter of system calls; this has the same end.
    const ::rlimit none{};
    if (unit.is_on("RestrictRealtime")) ::setrlimit(RLIMIT_RTPRIO, &none);
}

/// Those that a node may make use of.
constexpr std::pair<const char*, unsigned> known_capabilities[] = {
    {"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE},
    {"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH},
    {"CAP_NET_BIND_SERVICE", CAP_NET_BIND_SERVICE},
    {"CAP_NET_ADMIN", CAP_NET_ADMIN},
    {"CAP_NET_RAW", CAP_NET_RAW},
    {"CAP_IPC_LOCK", CAP_IPC_LOCK},
    {"CAP_SYS_NICE", CAP_SYS_NICE},
    {"CAP_SYS_RESOURCE", CAP_SYS_RESOURCE}};

std::uint64_t capabilities(const UnitFile& unit, const char* setting, bool otherwise) {
    std::uint64_t set = 0;
    for (const auto& [name, bit] : known_capabilities)
        if (unit.lists(setting, name, otherwise)) set |= std::uint64_t{1} << bit;
    return set;
}

void keep_capabilities(std::uint64_t set) {
    ::__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    ::__user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) != 0)
        throw std::system_error(errno, std::generic_category(), "capget");
    for (auto& one : data) {
        one.permitted &= static_cast<std::uint32_t>(set);
        one.effective = one.permitted;
        one.inheritable = 0;
        set >>= 32U;
    }
    if (::syscall(SYS_capset, &header, data) != 0)
        throw std::system_error(errno, std::generic_category(), "capset");
}

void become(const UnitUser& user, std::uint64_t kept) {
    ::prctl(PR_SET_KEEPCAPS, 1);
    if (::setgroups(user.groups.size(), user.groups.data()) != 0 ||
        ::setresgid(user.gid, user.gid, user.gid) != 0 ||
        ::setresuid(user.uid, user.uid, user.uid) != 0)
        throw std::system_error(errno, std::generic_category(), "becoming user " + user.name);
    keep_capabilities(kept);
}

}  // namespace

void enter_sandbox(const UnitFile& unit, const UnitStart& start, Findings& findings) {
    if (!enter_file_system(unit, start))
        findings.note("sandbox", "this machine lets nobody try it, so files are judged without: " +
                                     reason_text(errno));
    take_limits(unit);
    if (::chdir("/") != 0) findings.note("sandbox", "/ can't be entered: " + reason_text(errno));
    ::clearenv();
    for (const auto& [name, value] : start.variables) ::setenv(name.c_str(), value.c_str(), 1);
    // In a user namespace of its own they are none over what is outside of it.
    const char* const bounds = "CapabilityBoundingSet";
    std::uint64_t kept = capabilities(unit, bounds, !unit.has(bounds));
    if (start.user.uid != 0) kept &= capabilities(unit, "AmbientCapabilities", false);
    become(start.user, unit.is_on("PrivateUsers") ? 0 : kept);
}

}  // namespace bullring::doctor
