#include "src/security/key_file.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_files.hpp"

namespace bullring::key_file_test {

using bullring::test::TemporaryDirectory;
using Problems = std::vector<std::string>;

namespace {

// 0, 1, … 31, and 32 times 255. Their IDs are those of sha256sum.
const std::string first = "bullring-key-v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const std::string second = "bullring-key-v1:__________________________________________8";
constexpr const char* first_id = "630dcd29";
constexpr const char* second_id = "af961376";

Problems problems_in(std::string_view text) {
    const auto keys = parse_keys(text);
    return keys ? Problems{} : keys.error();
}

std::string file_with(const TemporaryDirectory& place, std::string_view text, mode_t mode) {
    std::string path = place / "keys";
    REQUIRE(create_file(path, text, mode).has_value());
    return path;
}

}  // namespace

TEST_CASE("key file: keys are read in their order, and all else on a line of its own is skipped") {
    const auto keys = parse_keys("# the cluster's\n\n  " + second + " \r\n\t\n" + first).value();
    REQUIRE(keys.size() == 2);
    CHECK((keys)[0].id == second_id);
    CHECK((keys)[1].id == first_id);
    for (std::size_t i = 0; i < key_bytes; ++i) {
        CHECK((keys)[0].bytes.at(i) == 255);
        CHECK((keys)[1].bytes.at(i) == i);
    }
}

TEST_CASE("key file: a new key is another one each time, and its line is read as itself") {
    const auto one = new_key();
    const auto other = new_key();
    REQUIRE(one.has_value());
    REQUIRE(other.has_value());
    CHECK(*one != *other);
    const std::string text =
        std::string(line_of(*one).view()) + std::string(line_of(*other).view());
    CHECK(parse_keys(text).value() == std::vector{*one, *other});
    CHECK(line_of(parse_keys(first).value().front()).view() == first + "\n");
}

TEST_CASE("key file: a refusal has the line, what is wrong, what would be right, and no key") {
    const std::string right =
        "expected bullring-key-v1: and 43 letters of base64url, "
        "as bullring key new makes it";
    CHECK(problems_in("") == Problems{"has no key; expected a line as bullring key new makes it"});
    CHECK(problems_in("# none\n") ==
          Problems{"has no key; expected a line as bullring key new makes it"});
    CHECK(problems_in("\nsecret\n") == Problems{"line 2 is no key; " + right});
    CHECK(problems_in("bullring-key-v2:" + first.substr(16)) ==
          Problems{"line 1 is a key of another version; " + right});
    CHECK(problems_in(first + "A") ==
          Problems{"line 1 has 44 characters after bullring-key-v1:; expected 43"});
    CHECK(problems_in(first.substr(0, 20)) ==
          Problems{"line 1 has 4 characters after bullring-key-v1:; expected 43"});
    CHECK(problems_in(first + "=") == Problems{"line 1 ends with padding; expected none (no =)"});
    CHECK(
        problems_in("bullring-key-v1:AA+CAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8") ==
        Problems{"line 1 has at column 19 what is no letter of base64url; expected A…Z, a…z, 0…9, "
                 "- and _ only"});
    for (const char* between : {" ", ""})
        CHECK(problems_in(first + between + second) ==
              Problems{"line 1 has more than one key; expected one a line"});
    CHECK(problems_in(first.substr(0, first.size() - 1) + "9") ==
          Problems{"line 1 ends with a character that no key ends with; is it whole?"});
    CHECK(problems_in(first + "\n#\n" + first) ==
          Problems{"line 3 has the key 630dcd29 of line 1 again; expected each key once"});
}

TEST_CASE("key file: every problem is told, not the first alone") {
    CHECK(problems_in("x\n" + first + "\ny").size() == 2);
}

TEST_CASE("key file: eight keys are read, and nine are not") {
    std::string text;
    for (std::size_t i = 0; i < keys_max; ++i) text += line_of(new_key().value()).view();
    CHECK(parse_keys(text).value().size() == keys_max);
    CHECK(problems_in(text + first) == Problems{"has 9 keys; expected at most 8"});
}

TEST_CASE("key file: it has 4 KiB at most") {
    const std::string filled =
        first + "\n#" + std::string(key_file_bytes_max - first.size() - 2, '#');
    CHECK(problems_in(filled).empty());
    CHECK(problems_in(filled + "#") ==
          Problems{"is longer than 4096 bytes; expected at most 8 keys, a line each"});
    const TemporaryDirectory place;
    const auto read = read_key_file(file_with(place, filled + "#", secret_mode));
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().front().why == "is longer than 4096 bytes, which is too long");
}

TEST_CASE("key file: what anybody else can read or change is refused") {
    const TemporaryDirectory place;
    const std::string path = file_with(place, first, secret_mode);
    for (const mode_t mode : {0600U, 0400U, 0700U}) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        CHECK(read_key_file(path).has_value());
    }
    for (const mode_t mode : {0604U, 0602U, 0620U, 0660U, 0666U}) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        const auto read = read_key_file(path);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().front().why.find("(chmod 600)") != std::string::npos);
    }
    // The group may read what is root's.
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    struct stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    CHECK(read_key_file(path).has_value() == (about.st_uid == 0 || about.st_gid == 0));
}

TEST_CASE("key file: what is no file, or is not there, is refused") {
    const TemporaryDirectory place;
    const auto error_of = [](const std::string& path) {
        const auto read = read_key_file(path);
        return read ? "" : read.error().front().why;
    };
    CHECK(error_of(place.path()) == "is not a regular file");
    CHECK(error_of(place / "none") == "cannot be read: No such file or directory");
    REQUIRE(::mkfifo((place / "fifo").c_str(), 0600) == 0);
    CHECK(error_of(place / "fifo") == "is not a regular file");
}

TEST_CASE("private file: a file that is there is not touched unless it is to be replaced") {
    const TemporaryDirectory place;
    const std::string path = file_with(place, "old", 0644);
    const auto refused = create_file(path, "new", secret_mode);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exists);
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    CHECK(read_private_file(path).value().view() == "old");
    REQUIRE(replace_file(path, "new", secret_mode).has_value());
    CHECK(read_private_file(path).value().view() == "new");
    struct stat made {};
    REQUIRE(::stat(path.c_str(), &made) == 0);
    CHECK((made.st_mode & 07777U) == 0600);
}

TEST_CASE("private file: its mode is the same under every umask") {
    const TemporaryDirectory place;
    const mode_t before = ::umask(0277);
    const bool made = create_file(place / "file", "text", public_mode).has_value();
    ::umask(before);
    REQUIRE(made);
    struct stat about {};
    REQUIRE(::stat((place / "file").c_str(), &about) == 0);
    CHECK((about.st_mode & 07777U) == 0644);
}

TEST_CASE("private file: a text that moves leaves nothing where it was") {
    SecretText one(std::string(100, 'x'));
    SecretText other(std::move(one));
    CHECK(other.view() == std::string(100, 'x'));
    CHECK(one.view().empty());  // NOLINT(bugprone-use-after-move)
    one = std::move(other);
    CHECK(one.view().size() == 100);
}

}  // namespace bullring::key_file_test
