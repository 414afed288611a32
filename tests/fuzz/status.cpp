// Fuzzes the answers of members to `status`, which the observer puts together without trusting
// them.
#include <nlohmann/json.hpp>

#include "src/base/text/text.hpp"
#include "src/observe/status_report.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::string_view text = input.rest();
    std::vector<MemberAnswer> members;
    // An answer ends where a byte stands that no JSON can hold.
    for (std::size_t begin = 0; begin <= text.size() && members.size() < 8;) {
        const std::size_t end = std::min(text.find('\xFF', begin), text.size());
        MemberAnswer& member = members.emplace_back();
        member.id = {members.size()};
        member.address = "10.0.0.1:7100";
        const auto answer = parse_node_answer(std::string(text.substr(begin, end - begin)));
        if (answer)
            member.answer = *answer;
        else
            fuzz::expect(!answer.error().empty(), "refused without a reason");
        begin = end + 1;
    }
    agreement(members);
    all_reachable_vote(members);
    fuzz::expect(nlohmann::json::accept(status_json("blue", members)), "the status is no JSON");
    const std::string table = status_table(members);
    std::size_t lines = 0;
    for (std::string_view rest = table; !rest.empty(); ++lines) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        fuzz::expect(line == one_line(line), "a table that a terminal would obey");
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    fuzz::expect(lines == members.size() + 1, "a member has not one line");
    return 0;
}
