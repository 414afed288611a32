#include "src/node/storage/state_file.hpp"

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/node/storage/refounding.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::state_file_test {

using bullring::test::TemporaryDirectory;
using protocol::Durable;

namespace {

const StateIdentity identity{"blue", {2}};
const protocol::Membership founders(std::vector<protocol::NodeId>{{1}, {2}, {3}});
const Durable durable{{4711}, protocol::milliseconds(501), false, founders};
constexpr protocol::Duration no_wait{0};

StateDirectory opened(const std::string& path, const StateIdentity& who = identity) {
    return StateDirectory::open(path, who, no_wait).value();
}

std::vector<char> content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const std::string& path, const std::vector<char>& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("state file: what is saved is loaded, by the same node only") {
    const TemporaryDirectory place;
    const std::string path = place / "a/b";
    {
        const StateDirectory directory = opened(path);
        CHECK(directory.load().value() == std::nullopt);
        REQUIRE(directory.save({{1}, {1}, false, founders}).has_value());
        REQUIRE(directory.save(durable).has_value());
        CHECK(directory.load().value() == durable);
    }
    CHECK(opened(path).load().value() == durable);
    struct stat made {};
    REQUIRE(::stat((place / "a").c_str(), &made) == 0);
    CHECK((made.st_mode & 0777U) == 0700U);
    CHECK_FALSE(std::filesystem::exists(path + "/state.tmp"));
}

TEST_CASE("state file: a file of another cluster or node is refused with both sides") {
    const TemporaryDirectory place;
    REQUIRE(opened(place.path()).save(durable).has_value());
    StateIdentity other = identity;
    other.cluster = "green";
    const auto cluster = opened(place.path(), other).load();
    REQUIRE_FALSE(cluster.has_value());
    CHECK(mentions(cluster.error(), "cluster 'blue', not to 'green'"));
    other = identity;
    other.self = {3};
    const auto self = opened(place.path(), other).load();
    REQUIRE_FALSE(self.has_value());
    CHECK(mentions(self.error(), "node 2, not to 3"));
}

TEST_CASE("state file: a change of any single byte, and any other length, is refused") {
    const TemporaryDirectory place;
    const StateDirectory directory = opened(place.path());
    REQUIRE(directory.save(durable).has_value());
    const std::string path = place / "state";
    const std::vector<char> good = content(path);
    REQUIRE(good.size() > 60);
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const int flip : {1, 0x80, 0xff}) {
            std::vector<char> bad = good;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            overwrite(path, bad);
            const auto loaded = directory.load();
            CAPTURE(at);
            REQUIRE_FALSE(loaded.has_value());
            REQUIRE(mentions(loaded.error(), path));
        }
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        overwrite(path, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
        CAPTURE(size);
        REQUIRE_FALSE(directory.load().has_value());
    }
    std::vector<char> longer = good;
    longer.push_back(0);
    overwrite(path, longer);
    CHECK_FALSE(directory.load().has_value());
    overwrite(path, std::vector<char>(100'000));
    CHECK_FALSE(directory.load().has_value());
    overwrite(path, good);
    CHECK(directory.load().value() == durable);
}

// ---- Formats.

namespace {

constexpr const char* members_and_numbers =  // of `identity` and `durable`
    "00000004626c75650000000300000000000000010000000000000002000000000000000300000000000000020000"
    "000000001267000000001ddca740";

tl::expected<Durable, std::string> decoded(std::string hex) {
    hex.insert(hex.find(' '), members_and_numbers);
    hex.erase(hex.find(' '), 1);
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return decode_state(identity, bytes);
}

}  // namespace

TEST_CASE("state file: one of version 0.1.0, which does not tell of hooks, may have had some") {
    const auto found = decoded("42554c4c52494e4700000001 b48fbe2d").value();
    CHECK(found.hw == durable.hw);
    CHECK(found.promised_max == durable.promised_max);
    CHECK(found.hooks);
}

TEST_CASE("state file: one of before lists had tags has the founders' list") {
    CHECK(decoded("42554c4c52494e4700000002 0096341a97").value() == durable);
}

TEST_CASE("state file: a list that nobody can have is damage, whatever the checksum") {
    const auto nobody_votes = decoded(
        "42554c4c52494e4700000002 000000000000000000000000000000000100000000000000010"
        "0000000000000010000000000000001f70c7e11");
    REQUIRE_FALSE(nobody_votes.has_value());
    CHECK(nobody_votes.error() == "is damaged: its fields do not fit");
    CHECK_FALSE(decoded(  // founders out of order
                    "42554c4c52494e4700000002 000000000000000007000000000000000100000000000000010"
                    "0010000000000020000000000000002000000000000000197244d3b")
                    .has_value());
}

TEST_CASE("state file: the list of members is kept, with its tag, its slots, votes and addresses") {
    const TemporaryDirectory place;
    std::vector<protocol::MemberEntry> entries;
    for (std::uint64_t id = 1; id <= protocol::members_max; ++id)
        entries.push_back({{1000 - id},
                           static_cast<protocol::Index>(id - 1),
                           id % 3 != 0,
                           std::string(protocol::member_address_bytes_max, 'a')});
    Durable grown = durable;
    grown.members = protocol::Membership({{4711}, 12}, entries, protocol::ids_of(entries));
    REQUIRE(opened(place.path()).save(grown).has_value());
    CHECK(opened(place.path()).load().value() == grown);
}

TEST_CASE("state file: the cluster's id is kept, and a file of before there was one has none") {
    const TemporaryDirectory place;
    Durable named = durable;
    named.identity = {{0xC1}, {4711}, true};
    REQUIRE(opened(place.path()).save(named).has_value());
    CHECK(opened(place.path()).load().value() == named);
    CHECK(decoded("42554c4c52494e4700000002 000000000000000000000000000000000300000000000000010"
                  "0010000000000000000000201010000000000000000000302010000000000030000000000000"
                  "00100000000000000020000000000000003c1fbf8de")
              .value() == durable);
}

TEST_CASE("state file: directories are kept, and a file of before there were any has none") {
    const TemporaryDirectory place;
    Durable before = durable;
    before.identity = {{0xC1}, {4711}, true};
    Durable with_directories = before;
    with_directories.directory = {0xD2};
    with_directories.met = {{{1}, "h1:1", {0xD1}}, {{3}, "", {0xD3}}};
    REQUIRE(opened(place.path()).save(with_directories).has_value());
    CHECK(opened(place.path()).load().value() == with_directories);
    CHECK(decoded("42554c4c52494e4700000002 00000000000000000000000000000000030000000000000001000"
                  "100000000000000000002010100000000000000000003020100000000000300000000000000010"
                  "000000000000002000000000000000300000000000000c100000000000012670194565513")
              .value() == before);
}

TEST_CASE("state file: what a later version has added at the end is left out") {
    Durable with_all = durable;
    with_all.identity = {{0xC1}, {4711}, true};
    with_all.directory = {0xD2};
    with_all.met = {{{3}, "h3:1", {0xD3}}};
    CHECK(decoded("42554c4c52494e4700000002 00000000000000000000000000000000030000000000000001000"
                  "100000000000000000002010100000000000000000003020100000000000300000000000000010"
                  "000000000000002000000000000000300000000000000c10000000000001267010000000000000"
                  "0d2000000010000000000000003000468333a3100000000000000d36c61746572f2f46709")
              .value() == with_all);
    CHECK(decoded("42554c4c52494e4700000002 01e1332a01").value().hooks);
}

TEST_CASE("state file: another format is refused, and told which are known") {
    const auto found = decoded("42554c4c52494e4700000003 00202ffae7");
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error() == "has format 3, and this program knows 1 and 2 only");
}

TEST_CASE("state file: a directory has one user at a time, and the second waits only so long") {
    const TemporaryDirectory place;
    {
        const StateDirectory first = opened(place.path());
        const auto second =
            StateDirectory::open(place.path(), identity, protocol::milliseconds(30));
        REQUIRE_FALSE(second.has_value());
        CHECK(mentions(second.error(), "in use by process " + std::to_string(::getpid())));
    }
    CHECK(StateDirectory::open(place.path(), identity, no_wait).has_value());
}

TEST_CASE("state file: what a dead process left half written is removed and never read") {
    const TemporaryDirectory place;
    REQUIRE(opened(place.path()).save(durable).has_value());
    overwrite(place / "state.tmp", {'x', 'y'});
    const StateDirectory directory = opened(place.path());
    CHECK_FALSE(std::filesystem::exists(place / "state.tmp"));
    CHECK(directory.load().value() == durable);
}

TEST_CASE("state file: a path that is no directory, and a file that cannot be read, are errors") {
    const TemporaryDirectory place;
    overwrite(place / "file", {'x'});
    const auto not_a_directory = StateDirectory::open(place / "file/state", identity, no_wait);
    REQUIRE_FALSE(not_a_directory.has_value());
    CHECK(mentions(not_a_directory.error(), place / "file"));
    std::filesystem::create_directories(place /
                                        "data/state");  // a directory where the file belongs
    const StateDirectory directory = opened(place / "data");
    CHECK_FALSE(directory.load().has_value());
    CHECK_FALSE(directory.save(durable).has_value());
}

TEST_CASE("state file: a link in the place of one of its files leads it to no other file") {
    const TemporaryDirectory place;
    const std::vector<char> theirs{'t', 'h', 'e', 'i', 'r', 's'};
    overwrite(place / "theirs", theirs);
    const auto link = [&](const char* name) {
        std::filesystem::remove(place / name);
        std::filesystem::create_symlink(place / "theirs", place / name);
    };
    const auto is_refused = [&](const auto& result, const char* name) {
        REQUIRE_FALSE(result.has_value());
        CHECK(mentions(result.error(), place / name + ": it is a symbolic link; expected a file"));
        CHECK(content(place / "theirs") == theirs);
    };
    {
        const StateDirectory directory = opened(place.path());
        link("state");
        is_refused(directory.load(), "state");
        link("state.tmp");
        is_refused(directory.save(durable), "state.tmp");
    }
    link("lock");
    is_refused(StateDirectory::open(place.path(), identity, no_wait), "lock");
    is_refused(StateDirectory::look_at(place.path(), identity), "lock");
}

TEST_CASE("state file: nobody waits for a FIFO in its place") {
    const TemporaryDirectory place;
    const StateDirectory directory = opened(place.path());
    REQUIRE(::mkfifo((place / "state").c_str(), 0600) == 0);
    CHECK_FALSE(directory.load().has_value());
}

TEST_CASE("state file: a disk that takes no more bytes is an error, and the old state stays") {
    const TemporaryDirectory place;
    const StateDirectory directory = opened(place.path());
    REQUIRE(directory.save(durable).has_value());
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny{10, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &tiny) == 0);
    const auto saved = directory.save({{9999}, {1}, false, founders});
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old_handler);
    CHECK_FALSE(saved.has_value());
    CHECK(directory.load().value() == durable);
}

TEST_CASE(
    "state file: a node that is left alone is made the only member, and only if that is said") {
    const TemporaryDirectory place;
    const auto refound_it = [&](bool write) {
        return refound(place.path(), identity, {9000}, write);
    };
    REQUIRE(opened(place.path()).save(durable).has_value());
    const auto asked = refound_it(false).value();
    CHECK(asked.before == durable);
    CHECK(asked.after.members.ids() == std::vector<protocol::NodeId>{{2}});
    CHECK(opened(place.path()).load().value() == durable);
    CHECK(refound_it(true)->after == asked.after);
    CHECK(opened(place.path()).load().value() == asked.after);
    // Once more does nothing.
    const auto again = refound_it(true).value();
    CHECK(again.before == again.after);
    CHECK(opened(place.path()).load().value() == asked.after);
}

TEST_CASE("state file: only a stopped member with a state file is made the only one") {
    const TemporaryDirectory place;
    const std::string path = place / "node-2";
    const auto why_not = [&] { return refound(path, identity, {9000}, true).error(); };
    CHECK(mentions(why_not(), path + ": No such file or directory"));
    CHECK_FALSE(std::filesystem::exists(path));
    std::filesystem::create_directory(path);
    CHECK(mentions(why_not(), "there is no state file in " + path));
    CHECK(std::filesystem::is_empty(path));
    {
        const StateDirectory in_use = opened(path);
        REQUIRE(in_use.save(durable).has_value());
        CHECK(mentions(why_not(), "stop the node first"));
    }
    const std::vector<protocol::MemberEntry> others{{{1}, 0, true, ""}, {{3}, 2, true, ""}};
    const protocol::Membership removed({{9000}, 1}, others, founders.ids());
    REQUIRE(opened(path).save({{9000}, {501}, false, removed}).has_value());
    CHECK(why_not() ==
          "node 2 is not in its own list of members, which has 1,3: it was removed; "
          "refound a node that is one of them");
    REQUIRE(opened(path).save(durable).has_value());
    CHECK(mentions(refound(path, {"red", {2}}, {9000}, true).error(), "red"));
}

}  // namespace bullring::state_file_test
