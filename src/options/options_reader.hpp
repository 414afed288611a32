// Raw texts made into values, one flag at a time. What is wrong is collected with the flag, its
// origin, the offending value and what would be right; the caller goes on with the next flag.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/time.hpp"
#include "src/options/endpoint.hpp"
#include "src/options/node_options.hpp"
#include "src/options/options_sources.hpp"

namespace bullring {

template <class Value>
using Words = std::initializer_list<std::pair<std::string_view, Value>>;

/// Each query gives nullopt when the flag is not given, or when it is wrong and has been reported.
class OptionReader {
public:
    OptionReader(const RawValues& values, Problems& problems)
        : values_(values), problems_(problems) {}

    bool given(std::string_view flag) const { return values_.contains(flag); }
    std::optional<std::string> text(std::string_view flag) const;
    std::optional<bool> boolean(std::string_view flag);
    std::optional<protocol::Duration> duration(std::string_view flag);
    /// Zero is refused.
    std::optional<protocol::Duration> positive_duration(std::string_view flag);
    std::optional<std::int64_t> integer(std::string_view flag, std::int64_t low, std::int64_t high,
                                        const char* right);
    std::optional<protocol::NodeId> node_id(std::string_view flag);
    std::optional<Endpoint> endpoint(std::string_view flag);
    /// The sound entries, even if others are wrong.
    PeerList peers();
    /// 1 … 64 bytes that are fit for a directory's name; "bullring" when it is not given or wrong.
    std::string cluster();
    LogOptions log();

    template <class Value>
    std::optional<Value> word(std::string_view flag, Words<Value> words) {
        const RawValue* value = find(flag);
        if (value == nullptr) return std::nullopt;
        for (const auto& [candidate, meaning] : words) {
            if (candidate == value->text) return meaning;
        }
        std::string right;
        for (const auto& [candidate, meaning] : words) {
            right += (right.empty() ? "" : ", ") + std::string(candidate);
        }
        refuse(flag, "is none of the words that are right: " + right);
        return std::nullopt;
    }

    /// Reports the value of a flag that is given.
    void refuse(std::string_view flag, const std::string& why);
    void report(std::string_view flag, const std::string& what);
    void require(std::string_view flag, const std::string& right);

private:
    const RawValue* find(std::string_view flag) const;
    std::string origin(std::string_view flag) const;

    const RawValues& values_;
    Problems& problems_;
};

}  // namespace bullring
