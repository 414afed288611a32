// Texts of durations. What is read is in range, and its own text means the same.
#include "protocol/values/durations.hpp"

#include "tests/fuzz/input.hpp"

using namespace bullring;
using protocol::Duration;
using protocol::NoDuration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::string text(input.rest());
    const auto parsed = protocol::parse_duration(text);
    if (const auto* none = std::get_if<NoDuration>(&parsed)) {
        fuzz::expect(!none->why.empty(), "a duration is refused without a reason");
        fuzz::expect(text.find(none->part) != std::string::npos, "a part is named that is none");
        return 0;
    }
    const Duration duration = std::get<Duration>(parsed);
    fuzz::expect(duration.ns >= 0 && duration <= protocol::duration_max, "out of range");
    const std::string again = protocol::to_text(duration);
    const auto same = protocol::parse_duration(again);
    fuzz::expect(std::holds_alternative<Duration>(same) && std::get<Duration>(same) == duration,
                 "its own text means something else");
    return 0;
}
