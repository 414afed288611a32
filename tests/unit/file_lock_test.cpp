#include "src/base/os/file_lock.hpp"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

#include "src/base/os/private_file.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::file_lock_test {

using bullring::test::TemporaryDirectory;
using protocol::Duration;

constexpr Duration no_wait{0};

TEST_CASE("file lock: one at a time has it, and it is free with its descriptor") {
    const TemporaryDirectory place;
    const std::string path = place / "file";
    REQUIRE(create_file(path, "text", secret_mode).has_value());
    auto first = lock_file(path, no_wait).value();
    CHECK(lock_file(path, no_wait).error() == EWOULDBLOCK);
    CHECK(lock_file(path, protocol::milliseconds(20)).error() == EWOULDBLOCK);
    first = OwnedFd();
    CHECK(lock_file(path, no_wait).has_value());
}

TEST_CASE("file lock: it is that of the file that is at the path, also after a replacement") {
    const TemporaryDirectory place;
    const std::string path = place / "file";
    REQUIRE(create_file(path, "old", secret_mode).has_value());
    const auto of_old = lock_file(path, no_wait);
    REQUIRE(of_old.has_value());
    REQUIRE(replace_file(path, "new", secret_mode).has_value());
    const auto of_new = lock_file(path, no_wait);
    REQUIRE(of_new.has_value());
    CHECK(lock_file(path, no_wait).error() == EWOULDBLOCK);
}

TEST_CASE("file lock: a file that is not there is made if that is asked for") {
    const TemporaryDirectory place;
    const std::string path = place / "file";
    CHECK(lock_file(path, no_wait).error() == ENOENT);
    CHECK(lock_file(path, no_wait, IfMissing::make).has_value());
    CHECK(lock_file(path, no_wait).has_value());
}

TEST_CASE("file lock: a file that can only be read has a lock, too") {
    const TemporaryDirectory place;
    const std::string path = place / "file";
    REQUIRE(create_file(path, "text", 0400).has_value());
    const auto held = lock_file(path, no_wait);
    REQUIRE(held.has_value());
    CHECK(lock_file(path, no_wait).error() == EWOULDBLOCK);
}

}  // namespace bullring::file_lock_test
