// Owns: the findings before a start, how they are kept and shown. Knows nothing of the checks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bullring::doctor {

enum class Level : std::uint8_t {
    ok,
    note,     // worth knowing, and nothing to do
    warning,  // the node starts, and something will not be as it should be
    failure,  // the node would not start, or not take part
};
const char* name(Level level);

struct Finding {
    Level level = Level::ok;
    std::string subject;
    std::string what;
    std::string remedy;  // of a warning or a failure
};

class Findings {
public:
    void ok(std::string subject, std::string what) {
        add({Level::ok, std::move(subject), std::move(what), {}});
    }
    void note(std::string subject, std::string what) {
        add({Level::note, std::move(subject), std::move(what), {}});
    }
    void warn(std::string subject, std::string what, std::string remedy) {
        add({Level::warning, std::move(subject), std::move(what), std::move(remedy)});
    }
    void fail(std::string subject, std::string what, std::string remedy) {
        add({Level::failure, std::move(subject), std::move(what), std::move(remedy)});
    }

    std::size_t count(Level level) const;
    const std::vector<Finding>& all() const { return all_; }

private:
    void add(Finding finding) { all_.push_back(std::move(finding)); }

    std::vector<Finding> all_;
};

/// A line each, the remedy below it, and a last one that counts them.
std::string to_text(const Findings& findings);
/// {"failures":…,"warnings":…,"findings":[{"level":…,"subject":…,"what":…,"remedy":…}]} on a line.
std::string to_json(const Findings& findings);

}  // namespace bullring::doctor
