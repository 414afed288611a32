#include "src/verify/drill/absence.hpp"

namespace bullring::drill {

std::vector<Absence> absences(const std::vector<MemberAnswer>& members) {
    std::vector<Absence> found;
    for (const MemberAnswer& member : members) {
        if (member.answer && member.answer->votes) continue;
        found.push_back({member.id, "node " + std::to_string(member.id.value) +
                                        (member.answer ? " does not vote yet"
                                                       : " can't be reached: " + member.problem)});
    }
    return found;
}

}  // namespace bullring::drill
