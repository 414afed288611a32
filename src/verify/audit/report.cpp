#include "src/verify/audit/report.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"

namespace bullring::audit {

namespace {

std::string plural(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string time_text(const Moment& moment) { return std::string(Rfc3339(moment.time_ns).text()); }

/// By the exact clock, if there is only one.
double seconds_covered(const History& history) {
    const Moment from = history.first();
    const Moment to = history.last();
    const std::int64_t ns =
        history.clocks() == 1 ? to.ts_ns - from.ts_ns : to.time_ns - from.time_ns;
    return static_cast<double>(std::max<std::int64_t>(ns, 0)) / 1e9;
}

std::string what_was_seen(const History& history, const Verdict& verdict) {
    const auto& all = verdict.leaderships;
    std::string epochs;
    if (!all.empty())
        epochs = all.size() == 1
                     ? fmt::format(" (epoch {})", all.front().epoch)
                     : fmt::format(" (epochs {} to {})", all.front().epoch, all.back().epoch);
    return fmt::format("{}{} in {:.3f} s, from {} to {}: {} of {}, {}.\n",
                       plural(all.size(), "leadership"), epochs, seconds_covered(history),
                       time_text(history.first()), time_text(history.last()),
                       plural(history.lines(), "line"), plural(history.nodes().size(), "node"),
                       plural(history.clocks(), "clock"));
}

}  // namespace

std::string summary(const History& history, const Contradiction& contradiction) {
    return fmt::format("{}: {} and {}", contradiction.what, history.text(contradiction.first.place),
                       history.text(contradiction.second.place));
}

std::string to_text(const History& history, const Verdict& verdict) {
    std::string text = what_was_seen(history, verdict);
    for (const Contradiction& one : verdict.contradictions) {
        text += fmt::format("CONTRADICTION: {}\n", one.what);
        for (const Quote& quote : {one.first, one.second})
            text += fmt::format("  {}: {}\n", history.text(quote.place), one_line(quote.text));
    }
    if (verdict.proved()) {
        text += verdict.leaderships.empty()
                    ? "Nobody led, so nothing was to be judged.\n"
                    : "No two leaderships overlapped, and epochs rose with time.\n";
    } else if (verdict.contradictions.empty()) {
        text +=
            "Nothing contradicts that leaderships never overlap and epochs rise, but the "
            "streams do not prove it:\n";
    } else if (std::any_of(verdict.gaps.begin(), verdict.gaps.end(),
                           [](const GapReport& gap) { return gap.count != 0; })) {
        text += "Besides, not everything was seen:\n";
    }
    for (const GapReport& gap : verdict.gaps) {
        for (const std::string& what : gap.shown) text += "  " + what + "\n";
        if (gap.count > gap.shown.size())
            text += fmt::format("  … and {} more of this kind\n", gap.count - gap.shown.size());
    }
    return text;
}

std::string to_json(const History& history, const Verdict& verdict) {
    Json json;
    json["proved"] = verdict.proved();
    json["seconds"] = seconds_covered(history);
    json["from"] = time_text(history.first());
    json["to"] = time_text(history.last());
    json["lines"] = history.lines();
    json["nodes"] = history.nodes();
    json["clocks"] = history.clocks();
    json["leaderships"] = Json::array();
    for (const Leadership& held : verdict.leaderships) {
        Json one{{"node", held.node}, {"epoch", held.epoch}};
        one["elected_ns"] = held.begin ? Json(held.begin->at.ts_ns) : Json(nullptr);
        one["held_until_ns"] = held.end ? Json(held.end->at.ts_ns) : Json(nullptr);
        one["reason"] = held.end ? Json(held.reason) : Json(nullptr);
        one["time"] = time_text(held.from());
        json["leaderships"].push_back(std::move(one));
    }
    json["contradictions"] = Json::array();
    for (const Contradiction& one : verdict.contradictions) {
        Json lines = Json::array();
        for (const Quote& quote : {one.first, one.second})
            lines.push_back({{"at", history.text(quote.place)}, {"line", quote.text}});
        json["contradictions"].push_back({{"what", one.what}, {"lines", std::move(lines)}});
    }
    json["gaps"] = Json::array();
    for (std::size_t i = 0; i < gaps_count; ++i) {
        const GapReport& gap = verdict.gaps[i];
        if (gap.count != 0)
            json["gaps"].push_back(
                {{"kind", name(static_cast<Gap>(i))}, {"count", gap.count}, {"what", gap.shown}});
    }
    return json_text(json) + "\n";
}

}  // namespace bullring::audit
