// The words of one line, taken one after the other; what does not fit is noted once, with what
// would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/values/names.hpp"
#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

class LineReader {
public:
    LineReader(std::string_view line, int number);

    bool done() const { return next_ == words_.size() || failed(); }
    bool failed() const { return !problem_.empty(); }
    const std::string& problem() const { return problem_; }
    int number() const { return number_; }
    void fail(const std::string& what);

    /// "" at the end of the line.
    std::string_view peek() const {
        return next_ < words_.size() ? std::string_view(words_[next_]) : std::string_view();
    }
    bool take(std::string_view word);
    std::string_view word(const char* what);
    std::string one_of(const std::vector<std::string_view>& words);
    /// The enumerator whose name is next.
    template <class Enum>
    Enum named() {
        for (const Enum value : protocol::enumerators<Enum>())
            if (take(name(value))) return value;
        fail("'" + std::string(peek()) + "' where one of " + protocol::all_names<Enum>() +
             " has its place");
        return Enum{};
    }
    bool on_or_off() { return one_of({"on", "off"}) == "on"; }
    std::int64_t number(const char* what, std::int64_t min, std::int64_t max);
    Time duration(const char* what);
    Range range(const char* what);
    NodeId id();
    Target target();
    /// "1-2" or "1>2"; the separator comes back in `separator`.
    std::pair<Target, Target> link(char& separator);
    void end();

private:
    Target target_from(std::string_view text);

    std::vector<std::string> words_;
    std::size_t next_ = 0;
    int number_;
    std::string problem_;
};

}  // namespace bullring::sim
