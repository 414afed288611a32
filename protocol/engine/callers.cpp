// Members that call from another address than their entry's (PROTOCOL C13): who is dialled where
// it calls from, too, and who takes over an address in the list.
#include <algorithm>
#include <vector>

#include "protocol/engine/engine.hpp"
#include "protocol/member/hello.hpp"

namespace bullring::protocol {

/// The run that was heard last has also answered at the address where it was dialled.
bool Engine::is_same_run(Index i) const {
    return peers_[i].has_ack && peers_[i].ack.incarnation == peers_[i].incarnation;
}

std::string Engine::address_of(Index i) const { return setup_.members().find(id(i))->address; }

void Engine::note_run_of(Step& step, Index i) {
    reserve_.want({}, expected_promise(i));
    const DirectoryId directory = peers_[i].directory;
    if (is_same_run(i) && directory)
        reserve_.want_met(MetDirectory{id(i), address_of(i), directory}, step.now);
}

// C13.1: the word of another process with its id counts for nothing, wherever it is. A member
// without a vote makes no majority.
bool Engine::may_be_dialled_where_it_calls(Index i) const {
    if (!deciding().voters().contains(i)) return true;
    const MetDirectory called{id(i), address_of(i), peers_[i].directory};
    const std::vector<MetDirectory>& met = reserve_.met();
    return called.directory && std::find(met.begin(), met.end(), called) != met.end();
}

// C13.2
bool Engine::says_it_is_at(NodeId member, const std::string& address) const {
    const auto i = setup_.members().index(member);
    if (!i) return false;
    if (*i != me()) return peers_[*i].introduction.calls_from == address;
    for (const Index peer : setup_.others())
        if (peers_[peer].has_ack &&
            calls_from(config().listens, peers_[peer].ack.addresses.remote) == address)
            return true;
    return false;
}

/// The process that is heard with that id is reached at its entry's address.
bool Engine::answers_at_its_address(Instant now, NodeId member) const {
    const auto i = setup_.members().index(member);
    if (!i) return false;
    if (*i == me()) return says_it_is_at(member, address_of(*i));
    const DialledSession* const session = sessions_.dialled(peers_[*i].dialled);
    return session != nullptr && !session->elsewhere && is_same_run(*i) &&
           peers_.connected(*i, now);
}

}  // namespace bullring::protocol
