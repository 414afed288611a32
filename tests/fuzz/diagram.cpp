// Traces, as `bullring-sim diagram` draws them. A trace is drawn or refused with a reason; the same
// one gives the same picture, and the picture is bounded by the trace.
#include "sim/diagram/diagram.hpp"

#include "tests/fuzz/input.hpp"

using namespace bullring;
using namespace bullring::sim::diagram;

namespace {

/// The picture, or why there is none.
std::string drawn(fuzz::Input input) {
    DiagramOptions options;
    options.theme = input.one_of({Theme::automatic, Theme::light, Theme::dark});
    options.scale = input.flag() ? ScaleMode::automatic : ScaleMode::linear;
    options.heartbeats = input.flag();
    options.format = input.flag() ? DiagramFormat::svg : DiagramFormat::shiviz;
    if (input.flag()) options.from_ns = input.magnitude();
    if (input.flag()) options.to_ns = input.magnitude();
    const std::string_view text = input.rest();
    try {
        TraceReader reader;
        // A file ends where a byte stands that no line can hold.
        for (std::size_t begin = 0, file = 1; begin <= text.size(); ++file) {
            const std::size_t end = std::min(text.find('\xFF', begin), text.size());
            reader.add_file(text.substr(begin, end - begin), std::to_string(file));
            begin = end + 1;
        }
        Drawing drawing = draw(reader.take(), options);
        fuzz::expect(!drawing.text.empty(), "an empty picture");
        return std::move(drawing.text);
    } catch (const DiagramError& error) {
        fuzz::expect(*error.what() != '\0', "refused without a reason");
        return error.what();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Input input(data, size);
    fuzz::expect(drawn(input) == drawn(input), "the same trace gives two pictures");
    return 0;
}
