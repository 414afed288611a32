#include "src/security/key_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

constexpr std::string_view prefix = "bullring-key-v1:";
constexpr const char* expects_a_key = "; expected a line as bullring key new makes it";
constexpr std::string_view any_version = "bullring-key-";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t letters_of_key = 43;  // ⌈32·8 / 6⌉
constexpr unsigned letter_bits = 6;

std::string id_of(const std::array<std::uint8_t, key_bytes>& bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        return {};
    return fmt::format("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

/// The key behind the prefix. The error goes on where "line 3 " stops, and never quotes the line:
/// it may be a key but for one letter.
tl::expected<Key, std::string> key_of(std::string_view letters) {
    const std::size_t wrong = letters.find_first_not_of(alphabet);
    if (wrong != std::string_view::npos) {
        if (letters.find(any_version) != std::string_view::npos)
            return tl::unexpected(std::string("has more than one key; expected one a line"));
        if (letters[wrong] == '=')
            return tl::unexpected(std::string("ends with padding; expected none (no =)"));
        return tl::unexpected(fmt::format(
            "has at column {} what is no letter of base64url; expected A…Z, a…z, 0…9, - and _ only",
            prefix.size() + wrong + 1));
    }
    if (letters.size() != letters_of_key)
        return tl::unexpected(fmt::format("has {} characters after {}; expected {}", letters.size(),
                                          prefix, letters_of_key));
    Key key;
    std::uint32_t bits = 0;
    unsigned held = 0;
    std::size_t place = 0;
    for (const char letter : letters) {
        bits = (bits << letter_bits) | static_cast<std::uint32_t>(alphabet.find(letter));
        held += letter_bits;
        if (held < 8) continue;
        held -= 8;
        key.bytes[place++] = static_cast<std::uint8_t>(bits >> held);
        bits &= (1U << held) - 1U;
    }
    // Otherwise there would be several texts for one key.
    if (bits != 0)
        return tl::unexpected(
            std::string("ends with a character that no key ends with; is it whole?"));
    key.id = id_of(key.bytes);
    if (key.id.empty())
        return tl::unexpected(std::string("has a key of which OpenSSL makes no SHA-256"));
    return key;
}

tl::expected<Key, std::string> key_on(std::string_view line) {
    if (line.starts_with(prefix)) return key_of(line.substr(prefix.size()));
    return tl::unexpected(
        fmt::format("is {}; expected {} and {} letters of base64url, as bullring key new makes it",
                    line.starts_with(any_version) ? "a key of another version" : "no key", prefix,
                    letters_of_key));
}

}  // namespace

Key::~Key() { OPENSSL_cleanse(bytes.data(), bytes.size()); }

tl::expected<std::vector<Key>, std::vector<std::string>> parse_keys(std::string_view text) {
    if (text.size() > key_file_bytes_max)
        return tl::unexpected(std::vector{
            fmt::format("is longer than {} bytes; expected at most {} keys, a line each",
                        key_file_bytes_max, keys_max)});
    std::vector<Key> keys;
    std::vector<std::size_t> lines;  // where each key stands
    std::vector<std::string> problems;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#')) continue;
        const auto key = key_on(line);
        if (!key) {
            problems.push_back(fmt::format("line {} {}", number, key.error()));
            continue;
        }
        const auto same = std::find(keys.begin(), keys.end(), *key);
        if (same != keys.end()) {
            problems.push_back(
                fmt::format("line {} has the key {} of line {} again; expected each key once",
                            number, key->id, lines[static_cast<std::size_t>(same - keys.begin())]));
            continue;
        }
        keys.push_back(*key);
        lines.push_back(number);
    }
    if (problems.empty() && keys.empty())
        problems.emplace_back(std::string("has no key") + expects_a_key);
    if (keys.size() > keys_max)
        problems.push_back(fmt::format("has {} keys; expected at most {}", keys.size(), keys_max));
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return keys;
}

tl::expected<SecretText, NotRead> read_key_text(const std::string& path) {
    auto text = read_private_file(path, key_file_bytes_max);
    if (!text && text.error().why == is_empty) text.error().why += expects_a_key;
    return text;
}

tl::expected<std::vector<Key>, std::vector<NotRead>> read_key_file(const std::string& path) {
    const auto text = read_key_text(path);
    if (!text) return tl::unexpected(std::vector{text.error()});
    return parse_keys(text->view()).map_error([](const std::vector<std::string>& problems) {
        std::vector<NotRead> all;
        all.reserve(problems.size());
        for (const std::string& problem : problems) all.push_back({problem});
        return all;
    });
}

tl::expected<Key, std::string> new_key() {
    Key key;
    if (RAND_priv_bytes(key.bytes.data(), static_cast<int>(key.bytes.size())) == 1)
        key.id = id_of(key.bytes);
    if (key.id.empty()) return tl::unexpected(std::string("OpenSSL gives no random bytes"));
    return key;
}

SecretText line_of(const Key& key) {
    std::string line;
    // It must not move while it grows.
    line.reserve(prefix.size() + letters_of_key + 1);
    line += prefix;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const std::uint8_t byte : key.bytes) {
        bits = (bits << 8U) | byte;
        held += 8;
        while (held >= letter_bits) {
            held -= letter_bits;
            line += alphabet[(bits >> held) & 0x3FU];
        }
    }
    line += alphabet[(bits << (letter_bits - held)) & 0x3FU];
    line += '\n';
    return SecretText(std::move(line));
}

}  // namespace bullring
