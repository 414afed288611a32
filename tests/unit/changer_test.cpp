// The changer (C2) alone; text in membership/testdata/change.txt.
#include "protocol/membership/changer.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/text_cases.hpp"

namespace bullring::protocol::changer_test {
namespace {

using test::CommandWords;

class ChangePlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        if (first == "list") return start(words);
        if (first == "leader")
            sight_.leader = id(words.next());
        else if (first == "connected")
            sight_.connected = slots(words);
        else if (first == "silent")
            sight_.silent = slots(words);
        else if (first == "refusing")
            sight_.refusing = slots(words);
        else if (first == "reached")
            sight_.reached = slots(words);
        else if (first == "calls-from-there")
            sight_.caller_is_there = true;
        else if (first == "behind")
            sight_.behind = id(words.next());
        else
            return change(first, words);
        return {};
    }

private:
    static NodeId id(const std::string& word) { return {std::stoull(word)}; }

    /// `1,2,3+4`: those behind the + have no vote. Addresses are a:1, a:2, …
    std::string start(CommandWords& words) {
        const std::string text = words.next();
        std::vector<MemberEntry> entries;
        std::istringstream in(text);
        bool votes = true;
        for (std::uint64_t one = 0; in >> one;) {
            entries.push_back(
                {{one}, static_cast<Index>(entries.size()), votes, "a:" + std::to_string(one)});
            if (in.get() == '+') votes = false;
        }
        std::vector<NodeId> founders = ids_of(entries);
        list_ = Membership(Tag{{7}, 0}, std::move(entries), std::move(founders));
        sight_ = {};
        sight_.leader = list_.id(0);
        sight_.connected = list_.all();
        sight_.connected.erase(0);
        sight_.reached = list_.all();
        return {};
    }
    MemberSet slots(CommandWords& words) const {
        MemberSet found;
        while (!words.empty()) {
            const std::string word = words.next();
            if (word != "nobody") found.insert(*list_.index(id(word)));
        }
        return found;
    }
    std::string change(const std::string& what, CommandWords& words) const {
        MemberChange change;
        for (const auto one :
             {MemberChange::What::add, MemberChange::What::remove, MemberChange::What::promote,
              MemberChange::What::demote, MemberChange::What::address}) {
            if (what != name(one)) continue;
            change.what = one;
            change.id = id(words.next());
            if (!words.empty()) change.address = words.next();
            return text(changed(list_, change, sight_, Tag{{7}, 1}));
        }
        throw std::runtime_error(what);
    }
    static std::string text(const Changed& made) {
        if (!made.next) return (made.lasting ? "refused: " : "not now: ") + made.why;
        std::string moved;
        for (const MemberEntry& member : made.next->entries())
            if (member.address != "a:" + std::to_string(member.id.value))
                moved += ", " + std::to_string(member.id.value) + " at " + member.address;
        return to_text(*made.next->tag()) + " " + ids_text(*made.next) + moved;
    }

    Membership list_;
    Sight sight_;
};

TEST_CASE("changer: the rules of C2 as text") {
    ChangePlayer player;
    test::play_text_cases("membership/testdata/change.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

}  // namespace
}  // namespace bullring::protocol::changer_test
