#include "src/verify/audit/actions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"
#include "src/node/net/caller.hpp"

namespace bullring::audit {

namespace {

/// Nobody is named: the node can't know.
Asked of_itself(std::string what, std::string why) {
    Asked asked;
    asked.what = std::move(what);
    asked.why = std::move(why);
    return asked;
}

std::string told(const Asked& asked) {
    std::string text = asked.what;
    if (!asked.answer.empty())
        text += fmt::format(": {}, asked for by {}", asked.answer,
                            to_text(Caller{asked.by, asked.credential, asked.from}));
    if (!asked.why.empty()) text += ": " + asked.why;
    if (asked.left_out > 0)
        text += fmt::format(" ({} like it before have no line)", asked.left_out);
    return one_line(text);
}

}  // namespace

void Actions::note(const EventLine& event) {
    if (const auto* asked = std::get_if<Asked>(&event.what))
        all_.push_back({event.time_ns, event.node, *asked});
    else if (std::holds_alternative<Started>(event.what))
        all_.push_back({event.time_ns, event.node, of_itself("started", "")});
    else if (const auto* stopped = std::get_if<Stopped>(&event.what))
        all_.push_back({event.time_ns, event.node, of_itself("stopped", stopped->reason)});
}

std::vector<const Actions::Action*> Actions::by_time() const {
    std::vector<const Action*> sorted;
    sorted.reserve(all_.size());
    for (const Action& one : all_) sorted.push_back(&one);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Action* a, const Action* b) { return a->time_ns < b->time_ns; });
    return sorted;
}

std::string Actions::text() const {
    std::string text;
    for (const Action* one : by_time())
        text += fmt::format("{}  node {}  {}\n", Rfc3339(one->time_ns).text(), one->node,
                            told(one->what));
    return text;
}

std::string Actions::json() const {
    Json list = Json::array();
    for (const Action* one : by_time()) {
        const Asked& asked = one->what;
        list.push_back(Json{{"time", Rfc3339(one->time_ns).text()},
                            {"node", one->node},
                            {"what", asked.what},
                            {"by", asked.by},
                            {"credential", asked.credential},
                            {"from", asked.from},
                            {"answer", asked.answer},
                            {"why", asked.why},
                            {"left_out", asked.left_out}});
    }
    return json_text(Json{{"actions", std::move(list)}}) + "\n";
}

}  // namespace bullring::audit
