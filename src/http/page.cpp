#include "src/http/page.hpp"

#include <string>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"
#include "src/http/accept.hpp"

namespace bullring {

HttpAnswer page_answer(const PageFile& file) { return {200, std::string(file.text), file.type}; }

bool wants_page(std::string_view accept) {
    return asks_for(accept, "text/html", "application/json");
}

HttpAnswer elector_answer(const AtTheMoment& at, std::int64_t last_ns, std::int64_t wall_ns) {
    const protocol::NodeId leader = at.leader();
    std::string name = at.advertised();
    if (name.empty() && leader) name = std::to_string(leader.value);
    Json json;
    json["name"] = name;
    json["last_update"] = rfc3339(wall_ns - (at.now.boottime_ns - last_ns));
    return {200, json_text(json) + "\n"};
}

}  // namespace bullring
