// The holder's arithmetic (R3): votes by voter, and D as the q-th largest end; examples as text are
// lease/testdata/lease.txt.
#include "protocol/lease/lease.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/text_cases.hpp"

namespace bullring::protocol::lease_test {
namespace {

using test::CommandWords;

/// The list with that tag, in which the first so many have a vote.
Membership list_of(std::size_t members, std::size_t voters, Tag tag = {}) {
    std::vector<MemberEntry> entries;
    for (std::size_t i = 0; i < members; ++i)
        entries.push_back({NodeId{i + 1}, static_cast<Index>(i), i < voters, ""});
    std::vector<NodeId> founders = ids_of(entries);
    return {tag, std::move(entries), std::move(founders)};
}

Lease lease_of(std::size_t members) {
    Lease lease;
    lease.begin({1}, list_of(members, members));
    return lease;
}

bool count(Lease& lease, std::size_t voter, Instant end, SessionId tied = no_session,
           Tag tag = {}) {
    return lease.count(static_cast<Index>(voter), end, tied, tag);
}

std::int64_t dumb_nth_largest(std::vector<std::int64_t> ends, std::size_t nth) {
    std::sort(ends.begin(), ends.end(), std::greater<>());
    return ends[nth - 1];
}

class LeasePlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        if (first == "new") lease_ = {};
        if (first == "new" || first == "begin") {
            const Epoch stood = words.id<Epoch>();
            lease_.begin(stood, list(words));
        } else if (first == "count")
            return count(words);
        else if (first == "propose")
            lease_.propose(list(words));
        else if (first == "settle")
            lease_.settle();
        else if (first == "end")
            lease_.end();
        else if (first == "tied")
            return text(lease_.tied_until(words.id<SessionId>()));
        else if (first == "voters")
            return voters(words);
        else if (first == "counted")
            return text(lease_.counted_until(voter(words)));
        else if (first == "holds")
            return next_holds(words);
        else
            throw std::runtime_error(first);
        return state();
    }

private:
    static Index voter(CommandWords& words) { return static_cast<Index>(words.number() - 1); }
    /// `T` or `T/RAW`.
    static Instant instant(CommandWords& words) {
        const std::string word = words.next();
        const std::size_t slash = word.find('/');
        const std::int64_t boottime = std::stoll(word);
        return {boottime,
                slash == std::string::npos ? boottime : std::stoll(word.substr(slash + 1))};
    }
    /// `EPOCH.VERSION`
    static Tag tag(CommandWords& words) {
        const std::string word = words.next();
        return {{std::stoull(word)},
                static_cast<std::uint32_t>(std::stoul(word.substr(word.find('.') + 1)))};
    }
    static Membership list(CommandWords& words) {
        const auto voters = static_cast<std::size_t>(words.number());
        const auto members = words.take("of") ? static_cast<std::size_t>(words.number()) : voters;
        return list_of(members, voters, words.take("tag") ? tag(words) : Tag{});
    }
    static std::string text(Instant at) {
        if (at == long_ago) return "-";
        const std::string boottime = std::to_string(at.boottime_ns);
        return at.raw_ns == at.boottime_ns ? boottime : boottime + "/" + std::to_string(at.raw_ns);
    }

    std::string count(CommandWords& words) {
        const Index by = voter(words);
        const Instant end = (words.take("until"), instant(words));
        const SessionId tied = words.take("tied") ? words.id<SessionId>() : no_session;
        const Tag under = words.take("tag") ? tag(words) : Tag{};
        const bool counted = lease_.count(by, end, tied, under);
        return (counted ? "" : "not counted, ") + state();
    }
    std::string voters(CommandWords& words) {
        std::string ids;
        for (const Index i : lease_.voters(instant(words)))
            ids += (ids.empty() ? "" : ",") + std::to_string(i + 1);
        return ids.empty() ? "nobody" : ids;
    }
    std::string next_holds(CommandWords& words) {
        const Instant now = instant(words);
        const Instant relied_on = words.take("relied-on") ? instant(words) : long_ago;
        return lease_.next_holds(now, relied_on) ? "yes" : "no";
    }
    std::string state() const {
        std::string told = "D " + text(lease_.deadline());
        if (lease_.untied_deadline() != lease_.deadline())
            told += ", untied " + text(lease_.untied_deadline());
        if (lease_.next()) told += ", next " + text(lease_.next()->deadline());
        return told;
    }

    Lease lease_;
};

TEST_CASE("lease: the rules of R3 and C5 as text") {
    LeasePlayer player;
    test::play_text_cases("lease/testdata/lease.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

// R8.3, C5.3
TEST_CASE("lease: D is the q-th largest end of the voters, clock by clock") {
    CHECK(rc::check("deadline() == sorted ends [q-1] for each clock", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 65);
        const auto voters = *rc::gen::inRange<std::size_t>(1, members + 1);
        const std::size_t q = voters / 2 + 1;
        Lease lease;
        lease.begin({1}, list_of(members, voters));
        std::vector<std::int64_t> boottime(voters, long_ago.boottime_ns);
        std::vector<std::int64_t> raw(voters, long_ago.raw_ns);
        const auto grants = *rc::gen::inRange(0, 200);
        for (int i = 0; i < grants; ++i) {
            const auto voter = *rc::gen::inRange<std::size_t>(0, members);
            const Instant end{*rc::gen::inRange(0, 1000), *rc::gen::inRange(0, 1000)};
            count(lease, voter, end);
            if (voter >= voters) continue;
            boottime[voter] = std::max(boottime[voter], end.boottime_ns);
            raw[voter] = std::max(raw[voter], end.raw_ns);
        }
        RC_ASSERT(lease.deadline() ==
                  (Instant{dumb_nth_largest(boottime, q), dumb_nth_largest(raw, q)}));
    }));
}

TEST_CASE("lease: while it is valid at least a majority has voted for it") {
    CHECK(rc::check("with ends from one pair of clocks, D valid implies q valid voters", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 8);
        const std::size_t q = members / 2 + 1;
        Lease lease = lease_of(members);
        const auto grants = *rc::gen::inRange(0, 20);
        Instant stamp{0, 0};
        for (int i = 0; i < grants; ++i) {
            // The holder's own clocks only go forward, each at its own pace.
            stamp = {stamp.boottime_ns + *rc::gen::inRange(0, 9),
                     stamp.raw_ns + *rc::gen::inRange(0, 9)};
            count(lease, *rc::gen::inRange<std::size_t>(0, members), stamp + Duration{50});
        }
        const Instant now{*rc::gen::inRange(0, 200), *rc::gen::inRange(0, 200)};
        if (lease_valid(now, lease.deadline())) RC_ASSERT(lease.voters(now).size() >= q);
    }));
}

// C5.2
TEST_CASE("lease: D never falls, whatever is granted and whenever lists are settled") {
    CHECK(rc::check("deadline() after count() and settle() is not before the one before", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 7);
        Lease lease;
        lease.begin({1}, list_of(members, members));
        std::uint32_t version = 0;
        for (int i = 0; i < 60; ++i) {
            const Instant before = lease.deadline();
            const auto voter = *rc::gen::inRange<std::size_t>(0, members);
            const Instant end{*rc::gen::inRange(0, 50), *rc::gen::inRange(0, 50)};
            const bool knows = lease.next() && *rc::gen::inRange(0, 2) == 1;
            count(lease, voter, end, no_session,
                  knows ? *lease.next()->list().tag() : *lease.base().tag());
            if (lease.next_holds({0, 0}, long_ago)) lease.settle();
            if (!lease.next() && *rc::gen::inRange(0, 4) == 0) {
                const auto voters = *rc::gen::inRange<std::size_t>(1, members + 1);
                lease.propose(list_of(members, voters, {{1}, ++version}));
            }
            RC_ASSERT(later(before, lease.deadline()) == lease.deadline());
        }
    }));
}

}  // namespace
}  // namespace bullring::protocol::lease_test
