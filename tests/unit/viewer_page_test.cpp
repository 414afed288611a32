// `bullring-sim diagram`: from files to a page, and what is said when that can't be.
#include "sim/diagram/viewer_page.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "sim/commands/commands.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::sim::diagram::viewer_page_test {
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

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("viewer page: it stands alone, and holds every trace and wish") {
    const test::TemporaryDirectory folder;
    std::ofstream(folder / "1.trace") << "{\"ts_ns\":1}\n";
    std::ofstream(folder / "2.trace") << "no trace at all\n";
    const std::string output = folder / "out.html";
    CHECK(run({folder / "1.trace", folder / "2.trace", "-o", output, "--theme", "dark", "--from",
               "99.5ms", "--to", "0.11s", "--heartbeats", "--title", "A title"}) == 0);
    const std::string page = contents(output);
    CHECK(has(page, "class=\"trace-data\">{\"ts_ns\":1}\n</script>"));
    CHECK(has(page, "class=\"trace-data\">no trace at all\n</script>"));
    CHECK(has(page,
              "{\"title\":\"A title\",\"theme\":\"dark\",\"scale\":\"auto\",\"heartbeats\":true,"
              "\"from\":99500000,\"to\":110000000,\"names\":["));
    CHECK(has(page, "1.trace\""));
    for (const char* const elsewhere : {" src=", "<link", "\nimport ", "\nexport "})
        CHECK(!has(page, elsewhere));
}

TEST_CASE("viewer page: no text of a trace or a wish ends its place in the page") {
    const std::string bad = "</script><script>alert(1)</script><!--";
    const std::string page = viewer_page({{bad, bad}}, {.title = bad, .from_ns = {}, .to_ns = {}});
    CHECK(!has(page, "alert(1)</script>"));
    CHECK(!has(page, "<!--"));
    CHECK(has(page, "\\u003c/script>\\u003cscript>alert(1)"));
}

TEST_CASE("viewer page: what can't be read or written is a failure") {
    const test::TemporaryDirectory folder;
    std::ofstream(folder / "empty.trace").close();
    std::ofstream(folder / "good.trace") << "{}\n";
    const std::string output = folder / "out.html";
    CHECK(run({folder / "none.trace", "-o", output}) == 1);
    CHECK(run({folder / "empty.trace", "-o", output}) == 1);
    CHECK(run({folder.path(), "-o", output}) == 1);
    CHECK(!std::filesystem::exists(output));
    CHECK(run({folder / "good.trace", "-o", folder / "nowhere/out.html"}) == 1);
}

TEST_CASE("viewer page: wrong usage is told apart from a failure") {
    CHECK(run({}) == usage);
    CHECK(run({"a.trace"}) == usage);
    CHECK(run({"a.trace", "-o", "b.svg"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--from", "10"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--from", "1.5.s"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--from", "2s", "--to", "1s"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--theme", "blue"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--scale", "log"}) == usage);
    CHECK(run({"a.trace", "-o", "b.html", "--format", "shiviz"}) == usage);
}

}  // namespace bullring::sim::diagram::viewer_page_test
