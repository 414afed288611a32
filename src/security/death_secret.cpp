#include "src/security/death_secret.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include <openssl/sha.h>
#include <sys/random.h>

namespace bullring {

namespace {

constexpr std::size_t word_bytes = 8;
using Bytes = std::array<unsigned char, 4 * word_bytes>;
static_assert(std::tuple_size_v<Bytes> == SHA256_DIGEST_LENGTH);

template <class Words>
Bytes bytes_of(const Words& words) {
    Bytes bytes{};
    std::size_t at = 0;
    for (const std::uint64_t word : {words.first, words.second, words.third, words.fourth})
        for (std::size_t i = word_bytes; i-- > 0;)
            bytes[at++] = static_cast<unsigned char>(word >> (8 * i));
    return bytes;
}

template <class Words>
Words words_of(const Bytes& bytes) {
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        words[i / word_bytes] = words[i / word_bytes] << 8U | bytes[i];
    return {words[0], words[1], words[2], words[3]};
}

}  // namespace

DeathSecret draw_death_secret() {
    Bytes bytes{};
    // So few bytes come whole.
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
    return words_of<DeathSecret>(bytes);
}

protocol::Commitment commitment_to(const DeathSecret& secret) {
    const Bytes bytes = bytes_of(secret);
    Bytes hash{};
    ::SHA256(bytes.data(), bytes.size(), hash.data());
    return words_of<protocol::Commitment>(hash);
}

}  // namespace bullring
