// Where a command's program is looked for, and what is said when it cannot be executed.
#include "src/task/supervisor/find_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_files.hpp"

namespace bullring::find_program_test {

namespace {

void write(const std::string& path, const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
}

class Path {
public:
    explicit Path(const std::string& value) : before_(std::getenv("PATH")) {
        ::setenv("PATH", value.c_str(), 1);
    }
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    ~Path() { ::setenv("PATH", before_.c_str(), 1); }

private:
    std::string before_;
};

}  // namespace

TEST_CASE("find program: along PATH, as a shell does") {
    const test::TemporaryDirectory first;
    const test::TemporaryDirectory second;
    write(first / "job", "no program\n", 0644);
    write(second / "job", "#! /bin/sh -e\n", 0755);
    const Path path("/nowhere:" + first.path() + ":" + second.path());
    CHECK(find_program("job") == second / "job");
    CHECK(find_program(first / "job").error().error == EACCES);
    CHECK(find_program("nothing").error().error == ENOENT);
    CHECK(find_program("nothing").error().text ==
          "the command \"nothing\" is not found; expected a program that can be executed");
    CHECK_FALSE(find_program(first.path()));
    CHECK_FALSE(find_program(""));
    ::unlink((second / "job").c_str());
    CHECK(find_program("job").error().error == EACCES);
}

TEST_CASE("find program: a script needs its interpreter") {
    const test::TemporaryDirectory place;
    const std::string job = place / "job";
    write(job, "#!/no/such -x\n", 0755);
    CHECK(find_program(job).error().error == ENOENT);
    CHECK(find_program(job).error().text.find("a script for \"/no/such\", which is not found") !=
          std::string::npos);
    write(job, "#!/etc/passwd\n", 0755);
    CHECK(find_program(job).error().error == EACCES);
    // The start reports how the kernel refuses these.
    for (const char* text : {"#!\n", "echo hi\n", "", "#!/bin/sh"}) {
        write(job, text, 0755);
        CHECK(find_program(job) == job);
    }
}

}  // namespace bullring::find_program_test
