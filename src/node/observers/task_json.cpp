#include "src/node/observers/task_json.hpp"

namespace bullring {

namespace {

std::int64_t ms_in(const Json& value) { return static_cast<std::int64_t>(whole_number(value)); }

}  // namespace

void add_task(Json& node, const ShownTask& task, bool has_one) {
    if (task.lead_commands != 0) node["lead_commands"] = task.lead_commands;
    if (task.candidates != 0) {
        Json& attached = node["attached"];
        attached["candidates"] = task.candidates;
        attached["holder"] = nullptr;
        if (task.holder)
            attached["holder"] = {{"pid", task.holder->pid},
                                  {"name", task.holder->name},
                                  {"for_ms", task.holder->for_ms}};
    }
    if (!has_one) return;
    const bool ended = !task.last_end.empty();
    Json& json = node["task"];
    json["running"] = task.running;
    json["for_ms"] = task.for_ms;
    json["starts"] = task.starts;
    json["last_end"] = ended ? Json(task.last_end) : Json();
    json["last_end_ago_ms"] = ended ? Json(task.last_end_ago_ms) : Json();
}

std::optional<ShownTask> task_in(const Json& node) {
    const auto json = node.find("task");
    const auto commands = node.find("lead_commands");
    const auto attached = node.find("attached");
    if (json == node.end() && commands == node.end() && attached == node.end()) return std::nullopt;
    ShownTask task;
    if (attached != node.end()) {
        task.candidates = whole_number(attached->at("candidates"));
        if (const Json& holder = attached->at("holder"); !holder.is_null())
            task.holder = {ms_in(holder.at("pid")), holder.at("name").get<std::string>(),
                           ms_in(holder.at("for_ms"))};
    }
    if (commands != node.end()) task.lead_commands = whole_number(*commands);
    if (json == node.end()) return task;
    task.running = json->at("running").get<bool>();
    task.for_ms = ms_in(json->at("for_ms"));
    task.starts = whole_number(json->at("starts"));
    if (json->at("last_end").is_null()) return task;
    task.last_end = json->at("last_end").get<std::string>();
    task.last_end_ago_ms = ms_in(json->at("last_end_ago_ms"));
    return task;
}

}  // namespace bullring
