// Values as texts, each with the place where it was given, which a problem names. What they
// mean is not known here.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bullring {

struct RawValue {
    std::string text;
    std::string origin;  // "--lease", "BULLRING_LEASE", "lease in FILE"
    bool usable = true;  // false: given, but already reported as having no text that could be read
};

/// By the names of the variables.
using Environment = std::map<std::string, std::string, std::less<>>;

/// By the flag's name.
using RawValues = std::map<std::string, RawValue, std::less<>>;
using Problems = std::vector<std::string>;

/// on, off, true, false, yes, no, 1, 0, in letters of either case.
std::optional<bool> boolean_named(std::string_view word);

/// How the texts of all that can't be used begin: `subject: what`.
void report(Problems& problems, const std::string& subject, const std::string& what);

/// Collects what is wrong, each with the place where the value was given.
class Report {
public:
    /// `dashes`: "--" where flags are written so, nothing where they are names of settings.
    Report(const RawValues& values, Problems& problems, const char* dashes = "--")
        : values_(values), problems_(problems), dashes_(dashes) {}

    /// "--quorum", as this caller writes it.
    std::string flag(std::string_view name) const { return dashes_ + std::string(name); }
    /// Not by the environment or the file, which serve other subcommands, too; to a library always.
    bool typed(std::string_view flag) const;
    /// `passes`: time or another program may mend it, without an edit.
    void say(std::string_view flag, const std::string& what, bool passes = false);
    /// With the value in quotes.
    void refuse(std::string_view flag, std::string_view value, const std::string& why);
    void require(std::string_view flag, bool given, const std::string& right);
    void add(std::string problem) { problems_.push_back(std::move(problem)); }
    /// Whether there are problems, and none but those that pass.
    bool all_pass() const { return passing_ > 0 && passing_ == problems_.size(); }

private:
    const RawValues& values_;
    Problems& problems_;
    const char* dashes_;
    std::size_t passing_ = 0;
};

}  // namespace bullring
