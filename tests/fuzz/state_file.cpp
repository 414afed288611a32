// The bytes of a state file, as they are and with the checksum that they should have. What is read
// is what would be written.
#include "src/node/storage/state_file.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;

namespace {

const StateIdentity identity{"blue", {2}};
constexpr std::size_t checksum_bytes = 4;

/// CRC-32 of IEEE 802.3, bit by bit.
std::uint32_t crc32(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xFFFF'FFFFU;
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * 0xEDB8'8320U);
    }
    return ~crc;
}

void check(const std::vector<std::byte>& bytes) {
    const auto durable = decode_state(identity, bytes);
    if (!durable)
        return fuzz::expect(!durable.error().empty(), "a file is refused without a reason");
    fuzz::expect(durable->promised_max.ns >= 0, "a promise of less than nothing");
    // Not the same bytes: another version has other fields.
    const auto again = decode_state(identity, encode_state(identity, *durable));
    fuzz::expect(again == durable, "a state is not what was written of it");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    std::vector<std::byte> bytes = fuzz::bytes_of(input.rest());
    check(bytes);
    if (bytes.size() < checksum_bytes) return 0;
    const auto sum = std::span(bytes).last(checksum_bytes);
    fuzz::put_big_endian(crc32(std::span(bytes).first(bytes.size() - checksum_bytes)), sum.data());
    check(bytes);
    return 0;
}
