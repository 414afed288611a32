#include "src/node/refounding_note.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "tests/support/temporary_files.hpp"

namespace bullring::refounding_note_test {
namespace {

using test::TemporaryDirectory;
using Answer = AskedAction::Answer;

std::vector<AskedAction> told_by(const RefoundingNote& note, bool done) {
    std::vector<AskedAction> told;
    note.tell(done, [&](const AskedAction& action) { told.push_back(action); });
    return told;
}

}  // namespace

TEST_CASE("refounding note: what was done is told once, with who asked for it and when") {
    const TemporaryDirectory directory;
    const RefoundingNote note(directory.path());
    CHECK(told_by(note, true).empty());
    REQUIRE(note.leave({3}, 1000).empty());
    const auto told = told_by(note, true);
    REQUIRE(told.size() == 1);
    CHECK(told[0].what == "member refound 3 --others-are-lost");
    CHECK(told[0].caller.by == "user 1000");
    CHECK(told[0].caller.from.starts_with("this machine, 20"));
    CHECK(told[0].answer == Answer::done);
    CHECK(told_by(note, true).empty());
}

TEST_CASE("refounding note: one that did not come to its end is told as failed") {
    const TemporaryDirectory directory;
    const RefoundingNote note(directory.path());
    REQUIRE(note.leave({3}, 0).empty());
    const auto told = told_by(note, false);
    REQUIRE(told.size() == 1);
    CHECK(told[0].answer == Answer::failed);
    CHECK(told[0].why == "the state was not written");
    REQUIRE(note.leave({3}, 0).empty());
    CHECK(note.take_away().empty());
    CHECK(told_by(note, true).empty());
}

}  // namespace bullring::refounding_note_test
