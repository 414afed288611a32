#include "sim/diagram/viewer_page.hpp"

#include <nlohmann/json.hpp>

namespace bullring::sim::diagram {

namespace {

using Json = nlohmann::ordered_json;

/// No text ends its element: in JSON '<' may stand in strings only, and there be escaped.
void add_script(std::string& page, std::string_view type, std::string_view text) {
    page += "<script type=\"";
    page += type;
    page += "\" class=\"trace-data\">";
    for (const char c : text) {
        if (c == '<') {
            page += "\\u003c";
        } else {
            page += c;
        }
    }
    page += "</script>\n";
}

std::string look_json(const std::vector<NamedTrace>& traces, const FirstLook& look) {
    Json json;
    json["title"] = look.title;
    json["theme"] = look.theme;
    json["scale"] = look.scale;
    json["heartbeats"] = look.heartbeats;
    if (look.from_ns) json["from"] = *look.from_ns;
    if (look.to_ns) json["to"] = *look.to_ns;
    json["names"] = Json::array();
    for (const NamedTrace& trace : traces) json["names"].push_back(trace.name);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string viewer_page(const std::vector<NamedTrace>& traces, const FirstLook& look) {
    const ViewerHalves halves = viewer_halves();
    std::string page(halves.before);
    add_script(page, "application/json", look_json(traces, look));
    for (const NamedTrace& trace : traces) add_script(page, "application/jsonl", trace.text);
    page += halves.after;
    return page;
}

}  // namespace bullring::sim::diagram
