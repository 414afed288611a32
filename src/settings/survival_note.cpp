#include "src/settings/survival_note.hpp"

namespace bullring {

namespace {

std::string failures(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " failure" : " failures");
}

}  // namespace

std::string survival_note(const protocol::Membership& members) {
    const std::size_t count = members.voters().size();
    const std::string kind = count == members.size() ? " members" : " voters";
    if (count == 0 || count % 2 != 0) return "";
    const std::size_t survives = count - members.majority();
    return std::to_string(count) + kind + " survive " +
           (survives == 0 ? "no failure"
                          : failures(survives) + ", no more than " + std::to_string(count - 1) +
                                kind + " do") +
           "; " + std::to_string(count + 1) + " would survive " + failures(survives + 1);
}

}  // namespace bullring
