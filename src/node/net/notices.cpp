#include "src/node/net/notices.hpp"

#include <algorithm>

#include "src/security/death_secret.hpp"

namespace bullring {

void Notices::learn(const Sender& said, const protocol::Commitment& commitment,
                    bool authenticated) {
    if (!commitment) return;
    if (Run* const known = find(said)) {
        // N3.2
        if (authenticated && !known->authenticated) *known = {said.incarnation, commitment, true};
        return;
    }
    std::deque<Run>& runs = runs_[said.id];
    if (runs.size() >= runs_max) runs.pop_front();  // N3.3
    runs.push_back({said.incarnation, commitment, authenticated});
}

bool Notices::knows(const Sender& said) {
    const Run* const run = find(said);
    return run != nullptr && !run->ended;
}

bool Notices::prove(const Sender& said, const DeathSecret& secret) {
    Run* const run = find(said);
    // N3.1
    if (run == nullptr || run->ended || commitment_to(secret) != run->commitment) return false;
    run->ended = true;
    return true;
}

Notices::Run* Notices::find(const Sender& said) {
    const auto runs = runs_.find(said.id);
    if (runs == runs_.end()) return nullptr;
    const auto run = std::find_if(runs->second.begin(), runs->second.end(), [&](const Run& one) {
        return one.incarnation == said.incarnation;
    });
    return run == runs->second.end() ? nullptr : &*run;
}

}  // namespace bullring
