// Owns: what the log says of a majority that is lost and comes back: one line for each. A loss that
// is over before a peer would be suspected is none: a process that was stopped for a while hears
// the others again at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/parts.hpp"

namespace bullring {

class MajorityLog {
public:
    /// After each step. True: there is something to tell.
    bool note(protocol::Instant now, const protocol::Parts& node);
    void tell();

    /// A line that is to be said now.
    struct News {
        bool lost = false;
        std::string text;
    };
    std::optional<News> news(protocol::Instant now, const protocol::Parts& node);

private:
    bool known_ = false;                        // there was one: a start is no loss
    protocol::Instant since_{protocol::never};  // of the loss; never: there is a majority
    bool told_ = false;                         // the loss, as far as it is judged here
    bool said_ = false;                         // and the log has a line of it
    std::vector<News> untold_;
};

}  // namespace bullring
