// A stream of bytes, rubbish and sound frames in turn, read in pieces of any sizes. However it is
// cut, the same frames come out and the same error ends it; the buffer holds no more than a frame.
#include <cstring>
#include <optional>

#include "protocol/values/rng.hpp"
#include "src/wire/framing.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;

namespace {

struct Heard {
    std::vector<std::vector<std::byte>> frames;
    std::string error;
    bool operator==(const Heard&) const = default;
};

/// As a session does it: the first frame has the short cap, the rest what is allowed after it.
Heard read(std::span<const std::byte> stream, std::uint64_t piece_seed, std::size_t later_max,
           std::uint16_t version) {
    protocol::Rng rng(piece_seed);
    FrameReader reader;
    Heard heard;
    while (true) {
        while (true) {
            auto frame = reader.next();
            if (!frame) {
                heard.error = frame.error();
                const auto again = reader.next();
                fuzz::expect(!again && again.error() == heard.error,
                             "a stream that was rubbish is read on");
                return heard;
            }
            if (!*frame) break;
            // The first one is read before the version is known.
            const bool first = heard.frames.empty();
            heard.frames.push_back(
                fuzz::encoded(**frame, first ? protocol::version_highest : version));
            reader.set_frame_bytes_max(later_max);
            reader.set_version(version);
        }
        if (stream.empty()) return heard;
        const auto room = reader.prepare();
        fuzz::expect(!room.empty() && room.size() <= frame_bytes_max,
                     "the buffer is out of bounds");
        const std::size_t wanted = piece_seed == 0 ? room.size() : 1 + rng.below(64);
        const std::size_t count = std::min({wanted, room.size(), stream.size()});
        std::memcpy(room.data(), stream.data(), count);
        reader.commit(count);
        stream = stream.subspan(count);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint64_t seed = 1 + std::uint64_t{input.number()};
    const std::size_t later_max = input.flag() ? frame_bytes_max : first_frame_bytes_max;
    const std::uint16_t version =
        input.flag() ? protocol::version_highest : protocol::version_lowest;
    std::vector<std::byte> stream;
    while (!input.empty()) {
        const std::uint8_t what = input.number();
        std::vector<std::byte> part = fuzz::bytes_of(input.long_text(frame_bytes_max));
        if (what != 0) {
            part.resize(std::max(part.size(), frame_head_bytes));
            fuzz::seal(part);
        }
        stream.insert(stream.end(), part.begin(), part.end());
    }
    const Heard at_once = read(stream, 0, later_max, version);
    fuzz::expect(read(stream, seed, later_max, version) == at_once, "the pieces make a difference");
    std::size_t whole = 0;
    for (const auto& frame : at_once.frames) {
        const auto rest = std::span<const std::byte>(stream).subspan(whole);
        const std::size_t size = fuzz::frame_size(rest);
        fuzz::expect(fuzz::same_body_begins(frame, rest.first(size)),
                     "a frame is not what stood in the stream");
        whole += size;
    }
    return 0;
}
