#include "sim/explore/world_state.hpp"

#include <algorithm>

namespace bullring::sim::explore {

const Session* find_session(const WorldState& state, const SessionName& name) {
    const auto found = std::find_if(state.sessions.begin(), state.sessions.end(),
                                    [&](const Session& session) { return session.name == name; });
    return found == state.sessions.end() ? nullptr : &*found;
}

bool leads(const WorldState& state, std::size_t node) {
    const Host& host = state.hosts[node];
    return host.node != nullptr && host.published.epoch &&
           protocol::lease_valid(clock_of(node, state.now), host.published.deadline);
}

std::string name(const Content& content) {
    if (const auto* message = std::get_if<protocol::Message>(&content))
        return protocol::name(*message);
    switch (std::get<protocol::SessionEnd>(content)) {
        case protocol::SessionEnd::eof: return "FIN";
        case protocol::SessionEnd::reset: return "RST";
        case protocol::SessionEnd::truncated: return "TRUNCATED";
        case protocol::SessionEnd::timeout: return "TIMEOUT";
        case protocol::SessionEnd::protocol: return "RUBBISH";
        case protocol::SessionEnd::overflow: return "OVERFLOW";
    }
    return protocol::no_name;
}

}  // namespace bullring::sim::explore
