// How the program writes JSON: keys keep their order, and an id that names nobody is null.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "protocol/values/ids.hpp"

namespace bullring {

using Json = nlohmann::ordered_json;

inline Json id_or_null(protocol::NodeId id) { return id ? Json(id.value) : Json(nullptr); }

inline protocol::NodeId id_or_nobody(const Json& value) {
    return value.is_null() ? protocol::nobody : protocol::NodeId{value.get<std::uint64_t>()};
}

}  // namespace bullring
