#include "src/cli/doctor/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/text.hpp"

namespace bullring::doctor {

namespace {

std::string counted(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

const char* name(Level level) {
    switch (level) {
        case Level::ok: return "ok";
        case Level::note: return "note";
        case Level::warning: return "warn";
        case Level::failure: return "fail";
    }
    return "?";
}

std::size_t Findings::count(Level level) const {
    return static_cast<std::size_t>(std::count_if(
        all_.begin(), all_.end(), [level](const Finding& one) { return one.level == level; }));
}

std::string to_text(const Findings& findings) {
    std::string text;
    for (const Finding& one : findings.all()) {
        text += fmt::format("{:<4}  {}: {}\n", name(one.level), one_line(one.subject),
                            one_line(one.what));
        if (!one.remedy.empty()) text += fmt::format("      → {}\n", one_line(one.remedy));
    }
    return text + fmt::format("{}, {}\n", counted(findings.count(Level::failure), "failure"),
                              counted(findings.count(Level::warning), "warning"));
}

std::string to_json(const Findings& findings) {
    Json json;
    json["failures"] = findings.count(Level::failure);
    json["warnings"] = findings.count(Level::warning);
    json["findings"] = Json::array();
    for (const Finding& one : findings.all()) {
        Json finding;
        finding["level"] = name(one.level);
        finding["subject"] = one.subject;
        finding["what"] = one.what;
        if (!one.remedy.empty()) finding["remedy"] = one.remedy;
        json["findings"].push_back(std::move(finding));
    }
    return json_text(json) + "\n";
}

}  // namespace bullring::doctor
