#include "src/node/report/event_line.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "src/base/text/json.hpp"

namespace bullring::audit {

namespace {

/// The fault of a line, found while its keys are read.
struct WrongLine {
    std::string what;
};

const Json& value_of(const Json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end()) throw WrongLine{fmt::format("it has no {}", key)};
    return *found;
}

std::uint64_t number_of(const Json& line, const char* key) {
    const Json& value = value_of(line, key);
    if (!value.is_number_unsigned()) throw WrongLine{fmt::format("its {} is no whole number", key)};
    const auto number = value.get<std::uint64_t>();
    if (number > INT64_MAX) throw WrongLine{fmt::format("its {} is too large", key)};
    return number;
}

std::int64_t instant_of(const Json& line, const char* key) {
    return static_cast<std::int64_t>(number_of(line, key));
}

const std::string& text_of(const Json& line, const char* key) {
    const Json& value = value_of(line, key);
    if (!value.is_string()) throw WrongLine{fmt::format("its {} is no string", key)};
    return value.get_ref<const std::string&>();
}

Started started(const Json& line) {
    Started started;
    const std::string& quorum = text_of(line, "quorum");
    if (quorum != "majority" && quorum != "none")
        throw WrongLine{"its quorum is neither majority nor none"};
    started.quorum_none = quorum == "none";
    const Json& peers = value_of(line, "peers");
    const auto is_id = [](const Json& id) { return id.is_number_unsigned(); };
    if (!peers.is_array() || !std::all_of(peers.begin(), peers.end(), is_id))
        throw WrongLine{"its peers are no list of IDs"};
    started.peers = peers.get<std::vector<std::uint64_t>>();
    // Streams of 0.1.0 have neither.
    if (line.contains("boot")) started.boot = text_of(line, "boot");
    if (line.contains("cluster")) started.cluster = text_of(line, "cluster");
    const auto id = line.find("cluster_id");
    if (id != line.end() && !id->is_null()) started.cluster_id = text_of(line, "cluster_id");
    return started;
}

Members members(const Json& line) {
    Members members;
    const Json& list = value_of(line, "members");
    if (!list.is_array()) throw WrongLine{"its members are no list"};
    for (const Json& member : list) members.ids.push_back(number_of(member, "id"));
    return members;
}

Asked asked(const Json& line) {
    return {text_of(line, "what"),      text_of(line, "by"),     text_of(line, "credential"),
            text_of(line, "from"),      text_of(line, "answer"), text_of(line, "why"),
            number_of(line, "left_out")};
}

EventLine event_of(const Json& line) {
    EventLine event;
    event.ts_ns = instant_of(line, "ts_ns");
    const auto time = parse_time(text_of(line, "time"));
    if (!time) throw WrongLine{"its time is not RFC 3339"};
    event.time_ns = *time;
    event.node = number_of(line, "node");
    const std::string& kind = text_of(line, "event");
    if (kind == "started") {
        event.what = started(line);
    } else if (kind == "cluster") {
        event.what = Cluster{text_of(line, "cluster_id")};
    } else if (kind == "members") {
        event.what = members(line);
    } else if (kind == "elected") {
        event.what = Elected{number_of(line, "epoch")};
    } else if (kind == "deposed") {
        event.what = Deposed{number_of(line, "epoch"), text_of(line, "reason"),
                             instant_of(line, "held_until_ns")};
    } else if (kind == "asked") {
        event.what = asked(line);
    } else if (kind == "stopped") {
        event.what = Stopped{text_of(line, "reason")};
    } else if (kind == "lost") {
        event.what = Lost{number_of(line, "count")};
    } else if (kind == "leader" && !value_of(line, "leader").is_null()) {
        event.what = Follows{number_of(line, "leader"), number_of(line, "epoch")};
    }
    return event;
}

constexpr std::string_view first_key = R"({"ts_ns":)";

/// Takes a number of so many digits off the front.
std::optional<int> digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + count, number);
    if (error != std::errc{} || end != text.data() + count || number < 0) return std::nullopt;
    text.remove_prefix(count);
    return number;
}

bool skip(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

std::int64_t fraction_ns(std::string_view& text) {
    std::int64_t ns = 0;
    std::int64_t unit = 1'000'000'000;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
        unit /= 10;
        ns += unit * (text.front() - '0');
    }
    return ns;
}

/// "Z" or "+01:00".
std::optional<std::chrono::minutes> offset(std::string_view text) {
    using std::chrono::minutes;
    if (text == "Z" || text == "z") return minutes(0);
    const bool behind = !text.empty() && text.front() == '-';
    if (!skip(text, "+-")) return std::nullopt;
    const auto hour = digits(text, 2);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = digits(text, 2);
    if (!minute || !text.empty() || *hour > 23 || *minute > 59) return std::nullopt;
    return (behind ? -1 : 1) * minutes(*hour * 60 + *minute);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
    namespace chrono = std::chrono;
    const auto year = digits(text, 4);
    if (!year || *year < 1970 || *year > 2200 || !skip(text, "-")) return std::nullopt;
    const auto month = digits(text, 2);
    if (!month || !skip(text, "-")) return std::nullopt;
    const auto day = digits(text, 2);
    if (!day || !skip(text, "Tt ")) return std::nullopt;
    const auto hour = digits(text, 2);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = digits(text, 2);
    if (!minute || !skip(text, ":")) return std::nullopt;
    const auto second = digits(text, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    const std::int64_t fraction = skip(text, ".") ? fraction_ns(text) : 0;
    const auto zone = offset(text);
    const chrono::year_month_day date{chrono::year(*year),
                                      chrono::month(static_cast<unsigned>(*month)),
                                      chrono::day(static_cast<unsigned>(*day))};
    if (!zone || !date.ok()) return std::nullopt;
    const chrono::seconds whole = chrono::sys_days(date).time_since_epoch() + chrono::hours(*hour) +
                                  chrono::minutes(*minute) + chrono::seconds(*second) - *zone;
    return chrono::nanoseconds(whole).count() + fraction;
}

tl::expected<EventLine, std::string> parse_event_line(std::string_view text) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) return tl::unexpected(std::string("it is no JSON object"));
    try {
        return event_of(line);
    } catch (const WrongLine& wrong) {
        return tl::unexpected(wrong.what);
    }
}

bool is_torn(std::string_view text) {
    const std::size_t compared = std::min(text.size(), first_key.size());
    return text.substr(0, compared) == first_key.substr(0, compared) && !text.ends_with('}');
}

std::size_t begin_of_last_event(std::string_view text) {
    const std::size_t found = text.rfind(first_key);
    return found == std::string_view::npos ? 0 : found;
}

}  // namespace bullring::audit
