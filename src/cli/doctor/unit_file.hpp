// Owns: what a unit for systemd says, as far as a start by it needs that: the files of a unit,
// joined, and the words in them. What its settings mean is known elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/settings/raw_values.hpp"

namespace bullring::doctor {

/// The section [Service] of a unit and its drop-ins.
class UnitFile {
public:
    /// `name`: of a unit, like "bullring@poller", which is looked for as systemd does, or the path
    /// of its file. The error says what is wrong with it.
    static tl::expected<UnitFile, std::string> read(const std::string& name);

    const std::string& name() const { return name_; }
    const std::vector<std::string>& files() const { return files_; }

    /// Whether it is set, be it to nothing.
    bool has(std::string_view key) const { return settings_.contains(key); }
    /// The last value of a setting; empty when there is none.
    std::string value(std::string_view key) const;
    /// The same, of one that says yes or no.
    bool is_on(std::string_view key) const;
    /// Its assignments, since the last one that was empty.
    const std::vector<std::string>& values(std::string_view key) const;
    /// The words of all of them.
    std::vector<std::string> words(std::string_view key) const;
    /// Whether a list, whose lines add to those before or, behind a `~`, take away, has this word.
    /// `otherwise`: where there is no list.
    bool lists(std::string_view key, std::string_view word, bool otherwise) const;

private:
    void take(const std::string& path, const std::string& text);
    std::string expanded(std::string_view text) const;

    std::string name_;      // "bullring@poller.service"
    std::string instance_;  // "poller"
    std::vector<std::string> files_;
    std::map<std::string, std::vector<std::string>, std::less<>> settings_;
};

/// Apart at blanks, as systemd does, which knows quotes and backslashes.
std::vector<std::string> unit_words(std::string_view text);

/// The words of a command line with variables in place of $NAME, which becomes words of its own,
/// and of ${NAME}.
std::vector<std::string> command_words(std::string_view text, const Environment& variables);

/// The variables of a file for EnvironmentFile=.
Environment read_variables(std::string_view text);

}  // namespace bullring::doctor
