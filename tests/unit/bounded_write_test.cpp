#include "src/base/os/bounded_write.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"
#include "src/base/os/sanitizers.hpp"

namespace bullring::bounded_write_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        reading = OwnedFd(ends[0]);
        writing = OwnedFd(ends[1]);
    }
    std::string read(std::size_t count) const {
        std::string text(count, '\0');
        std::size_t have = 0;
        while (have < count) {
            const ssize_t n = ::read(reading.get(), text.data() + have, count - have);
            if (n <= 0) break;
            have += static_cast<std::size_t>(n);
        }
        text.resize(have);
        return text;
    }
    OwnedFd reading, writing;
};

TEST_CASE("bounded write: what nobody reads holds up nobody, and is there for who reads later") {
    const Pipe pipe;
    const std::string much(256 * 1024, 'x');  // more than a pipe holds
    write_soon(pipe.writing.get(), much);
    write_soon(pipe.writing.get(), "one");
    write_soon(pipe.writing.get(), "two");
    finish_writing(milliseconds(0));  // returns, although it is not finished
    CHECK(pipe.read(much.size()) == much);
    CHECK(pipe.read(6) == "onetwo");
    finish_writing(seconds(10));
}

// ThreadSanitizer refuses threads in the fork of a process that has had some.
TEST_CASE("bounded write: a process that finishes before it ends has lost nothing" *
          doctest::skip(thread_sanitizer)) {
    const Pipe pipe;
    const std::string much(256 * 1024, 'x');
    const pid_t child = ::fork();
    if (child == 0) {
        write_soon(pipe.writing.get(), much);
        finish_writing(seconds(10));
        ::_exit(0);
    }
    CHECK(pipe.read(much.size()) == much);
    CHECK(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("bounded write: a fork writes although its parent is held up" *
          doctest::skip(thread_sanitizer)) {
    const Pipe full;
    const Pipe pipe;
    const std::string much(256 * 1024, 'x');
    write_soon(full.writing.get(), much);
    // Its thread stands in the write now: AddressSanitizer's forks can't begin a thread if one of
    // their parent's was just beginning.
    CHECK(full.read(1) == "x");
    const pid_t child = ::fork();
    if (child == 0) {
        write_soon(pipe.writing.get(), "child");
        finish_writing(seconds(10));
        ::_exit(0);
    }
    CHECK(pipe.read(5) == "child");
    CHECK(::waitpid(child, nullptr, 0) == child);
    CHECK(full.read(much.size() - 1) == much.substr(1));
    finish_writing(seconds(10));
}

}  // namespace
}  // namespace bullring::bounded_write_test
