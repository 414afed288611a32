// `bullring-sim diagram`: from files to a file, and what is said when that can't be.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "sim/commands/commands.hpp"
#include "tests/support/temporary_files.hpp"
#include "tests/support/trace_lines.hpp"

namespace bullring::sim::diagram::diagram_command_test {
namespace {

constexpr int usage = 2;

int run(std::vector<std::string> arguments) {
    CLI::App app("bullring-sim");
    int status = 0;
    add_diagram_command(app, status);
    arguments.insert(arguments.begin(), "diagram");
    std::reverse(arguments.begin(), arguments.end());
    try {
        app.parse(arguments);
    } catch (const CLI::FileError&) {
        return 1;  // as the program does
    } catch (const CLI::ParseError&) {
        return usage;
    }
    return status;
}

std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("diagram command: several files make one picture") {
    const test::TemporaryDirectory folder;
    const test::TraceLines lines = test::failover();
    std::ofstream one(folder / "1.trace");
    std::ofstream other(folder / "2.trace");
    for (std::size_t i = 0; i < lines.lines.size(); ++i)
        (i % 2 == 0 ? one : other) << lines.lines[i];
    one.close();
    other.close();
    const std::string output = folder / "out.svg";
    CHECK(run({folder / "1.trace", folder / "2.trace", "-o", output, "--theme", "dark", "--from",
               "99.5ms", "--to", "0.11s", "--heartbeats", "--title", "A title"}) == 0);
    const std::string svg = contents(output);
    CHECK(svg.find(">A title</text>") != std::string::npos);
    CHECK(svg.find("node 3") != std::string::npos);
    CHECK(run({folder / "1.trace", folder / "2.trace", "-o", output, "--format", "shiviz"}) == 0);
    CHECK(contents(output).find("(?<host>") == 0);
}

TEST_CASE("diagram command: what can't be read or written is a failure, not a picture") {
    const test::TemporaryDirectory folder;
    std::ofstream(folder / "bad.trace") << "no trace\n";
    std::ofstream(folder / "good.trace") << test::failover().text();
    const std::string output = folder / "out.svg";
    CHECK(run({folder / "none.trace", "-o", output}) == 1);
    CHECK(run({folder / "bad.trace", "-o", output}) == 1);
    CHECK(!std::filesystem::exists(output));
    CHECK(run({folder / "good.trace", "-o", folder / "nowhere/out.svg"}) == 1);
    CHECK(run({folder / "good.trace", "-o", output, "--from", "5h"}) == 1);
    CHECK(run({folder.path(), "-o", output}) == 1);
    CHECK(run({folder / "good.trace", folder / "good.trace", "-o", output}) == 1);
}

TEST_CASE("diagram command: wrong usage is told apart from a failure") {
    CHECK(run({}) == usage);
    CHECK(run({"a.trace"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--from", "10"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--from", "1.5.s"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--from", "2s", "--to", "1s"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--theme", "blue"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--scale", "log"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg", "--format", "png"}) == usage);
}

}  // namespace bullring::sim::diagram::diagram_command_test
