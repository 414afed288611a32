// One frame, in every version: as it is, and once more with the length and the checksum that it
// should have. What is decoded is encoded as what it was decoded from, but for unknown bytes at the
// end of that, and is decoded from it again. What a version reads, each lower one reads, too, and
// as the same but for what it does not know.
#include "src/wire/codec.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;

namespace {

tl::expected<Frame, std::string> check_in(std::uint16_t version,
                                          const std::vector<std::byte>& bytes) {
    auto frame = decode(bytes, version);
    if (!frame) {
        fuzz::expect(!frame.error().empty(), "a frame is refused without a reason");
        return frame;
    }
    const std::vector<std::byte> written = fuzz::encoded(*frame, version);
    fuzz::expect(fuzz::same_body_begins(written, bytes), "a frame has two encodings");
    const auto again = decode(written, version);
    fuzz::expect(again && again->sender == frame->sender && again->message == frame->message,
                 "a frame is not read as it was written");
    return frame;
}

/// Whether what a later version has added stands before other fields, in a part of the message. A
/// session has one version, so nobody reads it in another one.
bool versions_differ_within(const Frame& frame) {
    const auto* const message = std::get_if<protocol::Message>(&frame.message);
    return message != nullptr && std::holds_alternative<protocol::CoordinatorToken>(*message);
}

void check(const std::vector<std::byte>& bytes) {
    tl::expected<Frame, std::string> below = check_in(protocol::version_lowest, bytes);
    for (std::uint16_t version = protocol::version_lowest + 1; version <= protocol::version_highest;
         ++version) {
        auto frame = check_in(version, bytes);
        const auto lower = static_cast<std::uint16_t>(version - 1);
        if (frame) {
            const std::vector<std::byte> lowered = fuzz::encoded(*frame, lower);
            const auto reread = decode(lowered, lower);
            fuzz::expect(reread && fuzz::encoded(*reread, lower) == lowered,
                         "a lower version does not read what is written for it");
            fuzz::expect(versions_differ_within(*frame) ||
                             (below && fuzz::encoded(*below, lower) == lowered),
                         "a lower version reads something else");
        }
        below = std::move(frame);
    }
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
