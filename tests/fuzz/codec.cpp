// One frame, in every version: as it is, and once more with the length and the checksum that it
// should have. What is decoded is encoded as what it was decoded from, but for unknown bytes at the
// end of that, and is decoded from it again.
#include "src/wire/codec.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;

namespace {

void check_in(std::uint16_t version, const std::vector<std::byte>& bytes) {
    const auto frame = decode(bytes, version);
    if (!frame) return fuzz::expect(!frame.error().empty(), "a frame is refused without a reason");
    const std::vector<std::byte> written = fuzz::encoded(*frame, version);
    fuzz::expect(fuzz::same_body_begins(written, bytes), "a frame has two encodings");
    const auto again = decode(written, version);
    fuzz::expect(again && again->sender == frame->sender && again->message == frame->message,
                 "a frame is not read as it was written");
}

void check(const std::vector<std::byte>& bytes) {
    for (std::uint16_t version = protocol::version_lowest; version <= protocol::version_highest;
         ++version)
        check_in(version, bytes);
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
