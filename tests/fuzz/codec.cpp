// One frame: as it is, and once more with the length and the checksum that it should have. What is
// decoded has one encoding, the bytes that it was decoded from.
#include "src/wire/codec.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;

namespace {

void check(const std::vector<std::byte>& bytes) {
    const auto frame = decode(bytes);
    if (!frame) return fuzz::expect(!frame.error().empty(), "a frame is refused without a reason");
    fuzz::expect(fuzz::encoded(*frame) == bytes, "a frame has two encodings");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    std::vector<std::byte> bytes = fuzz::bytes_of(input.rest());
    check(bytes);
    if (bytes.size() < frame_head_bytes) return 0;
    fuzz::seal(bytes);
    check(bytes);
    return 0;
}
