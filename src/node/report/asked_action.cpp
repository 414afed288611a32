#include "src/node/report/asked_action.hpp"

namespace bullring {

const char* name(AskedAction::Answer answer) {
    switch (answer) {
        case AskedAction::Answer::done: return "done";
        case AskedAction::Answer::failed: return "failed";
        case AskedAction::Answer::refused: return "refused";
    }
    return "";
}

std::string resign_text(protocol::NodeId successor) {
    return successor ? "resign --to " + std::to_string(successor.value) : "resign";
}

}  // namespace bullring
