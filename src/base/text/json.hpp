// How the program writes JSON: keys keep their order, an id that names nobody is null, and times
// are in milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"

namespace bullring {

using Json = nlohmann::ordered_json;

/// Bytes that are not UTF-8 (an advertised string is the application's own) are replaced.
inline std::string json_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Rounded up: a lease that has some time left never reads as none.
inline std::int64_t lease_left_ms(protocol::Duration left) {
    return (std::max<std::int64_t>(left.ns, 0) + 999'999) / 1'000'000;
}

/// With as many digits as anybody reads.
inline double fractional_ms(protocol::Duration duration) {
    const std::int64_t us = duration.ns / 1'000;
    return static_cast<double>(us) / 1'000;
}

inline Json id_or_null(protocol::NodeId id) { return id ? Json(id.value) : Json(nullptr); }

/// Empty: null.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

inline Json ids_json(const std::vector<protocol::NodeId>& ids) {
    Json json = Json::array();
    for (const protocol::NodeId id : ids) json.push_back(id.value);
    return json;
}

/// As `--priority` takes it.
inline Json priority_json(protocol::Priority priority) {
    return priority.is_never() ? Json("never") : Json(priority.value);
}

/// The exception that the library throws.
inline Json::type_error wrong_type(const char* expected, const Json& value) {
    return Json::type_error::create(302, expected, &value);
}

/// The library itself converts any number, and for one that does not fit that is undefined. Throws
/// what the library throws.
inline std::uint64_t whole_number(const Json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX)
        throw wrong_type("a whole number was expected", value);
    return value.get<std::uint64_t>();
}

/// As priority_json() writes it.
inline protocol::Priority priority_of(const Json& value) {
    constexpr std::int64_t limit = 1000;
    if (value == "never") return protocol::Priority::never();
    if (!value.is_number_integer()) throw wrong_type("a priority was expected", value);
    const auto number = std::clamp(value.get<std::int64_t>(), -limit, limit);
    return {static_cast<std::int32_t>(number)};
}

inline protocol::NodeId id_or_nobody(const Json& value) {
    return value.is_null() ? protocol::nobody : protocol::NodeId{whole_number(value)};
}

}  // namespace bullring
