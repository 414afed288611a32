// The settings that a user asks for, each with its type: read from the raw texts, or filled in by
// the library, and then checked. Reading judges each value for itself; the checks judge what must
// hold between values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/values/durations.hpp"
#include "protocol/values/names.hpp"
#include "src/options/endpoint.hpp"
#include "src/options/node_options.hpp"
#include "src/options/sources.hpp"
#include "src/options/text.hpp"

namespace bullring {

template <class Value>
struct Asked {
    bool given = false;          // also when it can't be used, which has been reported
    std::optional<Value> value;  // none: not given, or it can't be used

    Value value_or(Value standard) const { return value.value_or(std::move(standard)); }
    bool unusable() const { return given && !value; }
};

/// A value goes into an `Asked` as it is, or over a default, which stays when there is none.
template <class Value>
void store(Asked<Value> asked, Asked<Value>& into) {
    into = std::move(asked);
}
template <class Value, class Into>
void store(Asked<Value> asked, Into& into) {
    if (asked.value) into = std::move(*asked.value);
}

template <class Into>
struct Stored {
    using Value = Into;
};
template <class T>
struct Stored<Asked<T>> {
    using Value = T;
};

/// How connections are to be secured, as users say it; empty texts are not given.
struct SecurityRequest {
    Asked<SecurityMode> mode;
    SecurityOptions files;  // without the mode
};

/// What `node`, `run` and the library ask for.
struct MemberRequest {
    /// What is taken as it was said, over the defaults.
    NodeOptions options;
    // What follows from other values when it is not given.
    Asked<protocol::NodeId> id;
    Asked<PeerList> peers;  // its sound entries, even if others are wrong
    Asked<Endpoint> listen;
    Asked<protocol::Algorithm> algorithm;
    Asked<bool> preempt;
    Asked<protocol::FastRelease> fast_release;
    Asked<protocol::Profile> profile;
    Asked<protocol::Duration> heartbeat, suspect_after, lease, lease_max, preempt_delay;
    Asked<protocol::Duration> hang_after;  // 0: off
    Asked<std::string> data_dir;
    SecurityRequest security;
};

/// Collects what is wrong, each with the place where the value was given.
class Report {
public:
    /// `dashes`: "--" where flags are written so, nothing where they are names of settings.
    Report(const RawValues& values, Problems& problems, const char* dashes = "--")
        : values_(values), problems_(problems), dashes_(dashes) {}

    /// "--quorum", as this caller writes it.
    std::string flag(std::string_view name) const { return dashes_ + std::string(name); }
    void say(std::string_view flag, const std::string& what);
    /// With the value in quotes.
    void refuse(std::string_view flag, std::string_view value, const std::string& why);
    void require(std::string_view flag, bool given, const std::string& right);
    void add(std::string problem) { problems_.push_back(std::move(problem)); }

private:
    const RawValues& values_;
    Problems& problems_;
    const char* dashes_;
};

struct WholeNumber {
    std::int64_t low;
    std::int64_t high;
    const char* right;
};

inline constexpr WholeNumber priorities{-1000, 1000, "a whole number, -1000 … 1000, or never"};

/// Reads texts, one flag at a time; what can't be read is reported.
class Reader {
public:
    Reader(const RawValues& values, Report& report) : values_(values), report_(report) {}

    bool given(std::string_view flag) const { return values_.contains(flag); }
    /// Not by the environment or the file, which serve other subcommands, too.
    bool typed(std::string_view flag) const {
        const auto found = values_.find(flag);
        return found != values_.end() && found->second.origin.starts_with("--");
    }
    std::optional<std::string> text(std::string_view flag) const;
    /// The same without the blanks around it, for a value that can't have any: a file of variables
    /// with the line ends of another system leaves one. Quotes that no shell took are reported.
    std::optional<std::string> word(std::string_view flag);

    template <class Into>
    void operator()(std::string_view flag, Into& into) {
        using Value = typename Stored<Into>::Value;
        Asked<Value> asked{given(flag), std::nullopt};
        const auto found = std::is_same_v<Value, std::string> ? text(flag) : word(flag);
        if (found) take(flag, *found, asked.value);
        store(std::move(asked), into);
    }
    /// Zero is refused.
    template <class Into>
    void positive(std::string_view flag, Into& into) {
        Asked<protocol::Duration> asked;
        (*this)(flag, asked);
        if (asked.value == protocol::Duration{0}) {
            report_.refuse(flag, *word(flag), "must be more than 0");
            asked.value.reset();
        }
        store(asked, into);
    }
    /// `off` is told as zero, which itself is refused.
    void positive_or_off(std::string_view flag, Asked<protocol::Duration>& into);
    template <class Into>
    void whole(std::string_view flag, const WholeNumber& number, Into& into) {
        Asked<std::int64_t> asked{given(flag), std::nullopt};
        if (const auto found = word(flag)) take(flag, *found, number, asked.value);
        store(asked, into);
    }
    template <class Into>
    void cluster(Into& into) {
        Asked<std::string> asked{given("cluster"), std::nullopt};
        if (const auto found = word("cluster")) take_cluster(*found, asked.value);
        store(std::move(asked), into);
    }
    LogOptions log();

    // By type. The value stays empty when the text can't be read.
    void take(std::string_view flag, const std::string& text, std::optional<std::string>& into);
    void take(std::string_view flag, const std::string& text, std::optional<bool>& into);
    void take(std::string_view flag, const std::string& text, std::optional<protocol::NodeId>&);
    void take(std::string_view flag, const std::string& text, std::optional<protocol::Priority>&);
    void take(std::string_view flag, const std::string& text, std::optional<protocol::Duration>&);
    void take(std::string_view flag, const std::string& text, std::optional<Endpoint>& into);
    void take(std::string_view flag, const std::string& text, std::optional<PeerList>& into);
    void take(std::string_view flag, const std::string& text, const WholeNumber& number,
              std::optional<std::int64_t>& into);
    template <class Enum>
    void take(std::string_view flag, const std::string& text, std::optional<Enum>& into) {
        into = protocol::named<Enum>(in_small_letters(text));
        if (into) return;
        report_.refuse(flag, text, "is not one of " + protocol::all_names<Enum>());
    }
    /// 1 … 64 bytes that are fit for a directory's name.
    void take_cluster(const std::string& name, std::optional<std::string>& into);

private:
    const RawValues& values_;
    Report& report_;
};

/// on, off, true, false, yes, no, 1, 0, in letters of either case.
std::optional<bool> boolean_named(std::string_view word);

MemberRequest member_request(Reader& read, Report& report);

/// The flags by which a user says how connections are secured, without `security-migrate`.
std::vector<std::string_view> security_flags();
SecurityRequest security_request(Reader& read);
/// What is wrong is reported: a mode that has to be named, files that the mode lacks, and what is
/// wrong in them (they are read for that). `self`: `nobody` for an observer.
SecurityOptions checked_security(const SecurityRequest& request, const PeerList& peers,
                                 const std::string& cluster, protocol::NodeId self, Report& report);

/// Where HTTP is to be served, as users say it: HOST:PORT or unix:PATH, and who may use it.
struct HttpTexts {
    std::optional<std::string> address;
    Asked<bool> open_to_all;
    std::optional<std::string> token_file;
};

/// What is wrong is reported. Reads the token file, to see that it can be read.
HttpOptions http_options(const HttpTexts& texts, Report& report);

// ---- The checks. What they return counts only if no problem was added.

/// How the work of a leader is ended before its lease is.
struct EndOfWork {
    /// Of a command that may have to be killed: its lease has room for that.
    std::optional<Asked<protocol::Duration>> kill_after;
    /// Of a task in this process, which is asked to stop so long before.
    std::optional<Asked<protocol::Duration>> stop_margin;
    /// What `kill_after` is called where no flag sets it.
    const char* fixed_end = nullptr;
};

NodeOptions checked(const MemberRequest& request, const Environment& environment,
                    const EndOfWork& end_of_work, Report& report);

/// The first directory of systemd's list, else where the desktop's rules put a program's state.
std::string checked_data_dir(const Asked<std::string>& data_dir, const Environment& environment,
                             const std::string& cluster, protocol::NodeId self, Report& report);

}  // namespace bullring
