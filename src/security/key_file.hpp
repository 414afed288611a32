// The file of a cluster's keys: a line each, `bullring-key-v1:` and 32 random bytes as base64url
// without padding. Blank lines and lines that begin with # do not count. The first key is the one
// to dial with, all of them are accepted. Never shows a key: its ID is what people see.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/private_file.hpp"

namespace bullring {

inline constexpr std::size_t key_bytes = 32;
inline constexpr std::size_t keys_max = 8;
inline constexpr std::size_t key_file_bytes_max = 4096;

/// Wiped from memory when it is destroyed.
struct Key {
    Key() = default;
    Key(const Key&) = default;
    Key& operator=(const Key&) = default;
    ~Key();
    bool operator==(const Key&) const = default;

    std::array<std::uint8_t, key_bytes> bytes{};
    std::string id;  // names it without showing it: the begin of its SHA-256, in hex
};

/// 1 … keys_max different ones. The errors name the line, say what is wrong and what would be
/// right; they name no file.
tl::expected<std::vector<Key>, std::vector<std::string>> parse_keys(std::string_view text);

/// A file of keys as it is, which nobody else may be able to read.
tl::expected<SecretText, NotRead> read_key_text(const std::string& path);
/// The keys in it.
tl::expected<std::vector<Key>, std::vector<NotRead>> read_key_file(const std::string& path);

/// Of OpenSSL's generator for secrets. The error is for people.
tl::expected<Key, std::string> new_key();
/// The key as a line of the file, its end included.
SecretText line_of(const Key& key);

}  // namespace bullring
