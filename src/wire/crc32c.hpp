// CRC-32C (Castagnoli), the checksum of iSCSI and SCTP: RFC 3720, section 12.1 and appendix B.4. By
// a table: a frame has about 80 bytes, for which no instruction of the processor is needed, and no
// library that Debian 12 has offers it without more besides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bullring {

namespace crc32c_detail {

constexpr std::array<std::uint32_t, 256> make_table() {
    constexpr std::uint32_t reversed_polynomial = 0x82F6'3B78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & 1U) != 0 ? rest >> 1U ^ reversed_polynomial : rest >> 1U;
        table[byte] = rest;
    }
    return table;
}

inline constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace crc32c_detail

/// `before` is the checksum of the bytes that stand before these.
constexpr std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) {
    std::uint32_t rest = ~before;
    for (const std::byte byte : bytes)
        rest = rest >> 8U ^
               crc32c_detail::table[(rest ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    return ~rest;
}

}  // namespace bullring
