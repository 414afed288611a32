// Owns: the note that `bullring member refound` leaves in the data directory, so that the trail of
// what people have done to a node has this, too, though no node ran to write it. The next start
// tells it and takes it away.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "src/node/report/asked_action.hpp"

namespace bullring {

class RefoundingNote {
public:
    explicit RefoundingNote(const std::string& data_dir);

    /// `user`: the uid of who asks for it. All block as long as the disk does. Why it can't be, for
    /// people; empty: it is.
    std::string leave(protocol::NodeId self, unsigned user) const;
    std::string take_away() const;
    /// If there is one. Then it is taken away. `done`: the node is the only member; else the state
    /// was not written.
    void tell(bool done, const std::function<void(const AskedAction&)>& listener) const;

private:
    std::optional<AskedAction> read() const;

    std::string path_;
};

}  // namespace bullring
