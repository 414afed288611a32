// One thing that somebody has asked of this node (to hand over, to change the members, to let a
// fault happen), and what came of it.
#pragma once

#include <string>

#include "protocol/values/ids.hpp"
#include "src/node/net/caller.hpp"

namespace bullring {

struct AskedAction {
    enum class Answer {
        done,
        failed,   // it could not be done now
        refused,  // the caller may not ask for it
    };
    std::string what;  // as it is typed: "member remove 3"
    Caller caller;
    Answer answer = Answer::done;
    std::string why;  // it was not done
};

const char* name(AskedAction::Answer answer);

/// As it is typed; `nobody`: the leader may choose.
std::string resign_text(protocol::NodeId successor);

}  // namespace bullring
