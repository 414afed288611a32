#include "src/security/pem_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <openssl/pem.h>

#include "src/base/text/text.hpp"
#include "src/security/openssl_reason.hpp"

namespace bullring {

namespace {

constexpr std::string_view begin_mark = "-----BEGIN ";
constexpr std::string_view end_mark = "-----END ";
constexpr std::string_view dashes = "-----";

struct Block {
    std::string_view label;
    std::size_t line = 0;  // that it begins on
    std::string_view text;
};

using Blocks = std::vector<Block>;

std::string_view without_end(std::string_view line) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Between the mark and the dashes; empty when it is no such line.
std::string_view label_of(std::string_view line, std::string_view mark) {
    if (!line.starts_with(mark) || line.size() <= mark.size() + dashes.size()) return {};
    if (!line.ends_with(dashes)) return {};
    line = line.substr(mark.size(), line.size() - mark.size() - dashes.size());
    return line.find("--") == std::string_view::npos ? line : std::string_view();
}

/// Or what was one before it was damaged.
bool is_boundary(std::string_view line) {
    return line.find("--") != std::string_view::npos &&
           (line.find("BEGIN ") != std::string_view::npos ||
            line.find("END ") != std::string_view::npos);
}

/// Base64, or a header of an encrypted key: "DEK-Info: …".
bool may_be_in_block(std::string_view line) {
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '/' || c == '=';
    };
    return line.find(':') != std::string_view::npos ||
           std::all_of(line.begin(), line.end(), is_letter);
}

class Splitter {
public:
    explicit Splitter(std::string_view pem) : pem_(pem) {}

    tl::expected<Blocks, std::string> blocks() {
        for (std::size_t at = 0; at < pem_.size();) {
            const std::size_t end = std::min(pem_.find('\n', at), pem_.size());
            ++number_;
            const std::string_view line = without_end(pem_.substr(at, end - at));
            const std::string problem = within_ ? go_on(line, end) : look(line, at);
            if (!problem.empty())
                return tl::unexpected(fmt::format("line {} {}", number_, problem));
            at = end + 1;
        }
        if (!within_) return std::move(blocks_);
        return tl::unexpected(fmt::format("is cut off: it ends within the {} of line {}",
                                          blocks_.back().label, blocks_.back().line));
    }

private:
    // Each gives what is wrong with the line; empty: nothing.

    std::string look(std::string_view line, std::size_t at) {
        if (!is_boundary(line)) return {};
        const std::string_view label = label_of(line, begin_mark);
        if (!label.empty()) {
            within_ = true;
            begin_ = at;
            blocks_.push_back({label, number_, {}});
            return {};
        }
        const std::string_view ended = label_of(line, end_mark);
        if (!ended.empty()) return fmt::format("ends a {} that has no begin", one_line(ended));
        return "is damaged; expected -----BEGIN …----- on a line of its own";
    }

    std::string go_on(std::string_view line, std::size_t end) {
        Block& block = blocks_.back();
        if (label_of(line, end_mark) == block.label) {
            within_ = false;
            block.text = pem_.substr(begin_, std::min(end + 1, pem_.size()) - begin_);
            return {};
        }
        if (is_boundary(line))
            return fmt::format(
                "is no -----END {}----- on a line of its own, which the one of line "
                "{} needs before another begins",
                one_line(block.label), block.line);
        if (may_be_in_block(line)) return {};
        return fmt::format("is no base64, within the {} of line {}", one_line(block.label),
                           block.line);
    }

    std::string_view pem_;
    std::size_t number_ = 0;
    bool within_ = false;
    std::size_t begin_ = 0;  // of the block that it is within
    Blocks blocks_;
};

/// Of DER, and of PKCS #12.
bool is_binary(std::string_view text) {
    return text.size() > 1 && text[0] == '\x30' &&
           (static_cast<unsigned char>(text[1]) & 0x80U) != 0;
}

bool is_certificate(std::string_view label) {
    return label == PEM_STRING_X509 || label == PEM_STRING_X509_OLD;
}
bool is_list(std::string_view label) { return label == PEM_STRING_X509_CRL; }
bool is_key(std::string_view label) { return label.ends_with("PRIVATE KEY"); }

/// Those of a kind, of which there has to be one.
tl::expected<Blocks, std::string> blocks_of(std::string_view pem, bool (*is_kind)(std::string_view),
                                            const char* kind, OtherBlocks others) {
    if (is_binary(pem))
        return tl::unexpected(fmt::format(
            "has no {}; expected one in PEM, and this is binary (DER, PKCS #12)", kind));
    auto all = Splitter(pem).blocks();
    if (!all) return all;
    Blocks found;
    for (const Block& block : *all) {
        if (is_kind(block.label))
            found.push_back(block);
        else if (others == OtherBlocks::refuse)
            return tl::unexpected(fmt::format("line {} begins a {}; expected each to be a {}",
                                              block.line, one_line(block.label), kind));
    }
    if (found.empty()) return tl::unexpected(fmt::format("has no {}; expected one in PEM", kind));
    return found;
}

/// Neither asks for a passphrase nor gives one; notes that one was wanted.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* wanted) {
    *static_cast<bool*>(wanted) = true;
    return -1;
}

OwnedBio reader_of(std::string_view text) {
    return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string damaged(const Block& block) {
    return fmt::format("has on line {} a {} that is damaged: {}", block.line, one_line(block.label),
                       openssl_reason());
}

/// `decode` is one of d2i_…
template <class Owned, class Decode>
Owned decoded(const Block& block, Decode decode) {
    char* label = nullptr;
    char* header = nullptr;
    unsigned char* bytes = nullptr;
    long size = 0;
    if (PEM_read_bio(reader_of(block.text).get(), &label, &header, &bytes, &size) != 1)
        return nullptr;
    const unsigned char* at = bytes;
    Owned object(decode(nullptr, &at, size));
    // Two in one block: the marks between them are missing.
    if (at != bytes + size) object.reset();
    OPENSSL_free(label);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
    return object;
}

template <class Owned, class Decode>
tl::expected<std::vector<Owned>, std::string> all_of(
    const tl::expected<Blocks, std::string>& blocks, Decode decode) {
    if (!blocks) return tl::unexpected(blocks.error());
    std::vector<Owned> found;
    for (const Block& block : *blocks) {
        found.push_back(decoded<Owned>(block, decode));
        if (!found.back()) return tl::unexpected(damaged(block));
    }
    return found;
}

}  // namespace

tl::expected<std::vector<OwnedCertificate>, std::string> certificates_in(std::string_view pem,
                                                                         OtherBlocks others) {
    return all_of<OwnedCertificate>(blocks_of(pem, is_certificate, "certificate", others),
                                    &d2i_X509);
}

tl::expected<std::vector<OwnedCrl>, std::string> revocation_lists_in(std::string_view pem,
                                                                     OtherBlocks others) {
    return all_of<OwnedCrl>(blocks_of(pem, is_list, "revocation list", others), &d2i_X509_CRL);
}

tl::expected<OwnedPrivateKey, std::string> private_key_in(std::string_view pem) {
    const auto blocks = blocks_of(pem, is_key, "private key", OtherBlocks::skip);
    if (!blocks) return tl::unexpected(blocks.error());
    if (blocks->size() > 1)
        return tl::unexpected(fmt::format("has private keys on lines {} and {}; expected one",
                                          (*blocks)[0].line, (*blocks)[1].line));
    bool wanted = false;
    const Block& block = blocks->front();
    OwnedPrivateKey key(
        PEM_read_bio_PrivateKey(reader_of(block.text).get(), nullptr, no_passphrase, &wanted));
    if (key) return key;
    if (!wanted) return tl::unexpected(damaged(block));
    openssl_reason();  // that no passphrase was given
    return tl::unexpected(std::string("is encrypted; expected a key without a passphrase"));
}

}  // namespace bullring
