// Owns: the leaders of a node's earlier runs, read from the end of its event stream. Nothing of
// it can fail a node: a file that was rotated, cut short or damaged shows less, and that is all.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "src/http/history.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

/// Whose lines count.
struct StreamOwner {
    protocol::NodeId node;
    std::string cluster;  // lines of a run in another one are passed over
};

/// The leaderships that whole lines record, oldest first, at most History::leaderships_max. Lines
/// of no event stream are passed over. Pure.
std::deque<History::Leadership> leaderships_in(std::string_view lines, const StreamOwner& owner);

class EarlierRuns {
public:
    /// Of the stream. More is not read.
    static constexpr std::size_t bytes_max = 1024 * 1024;

    /// Notes where the stream ends now, before this run has written to it, and reads nothing.
    explicit EarlierRuns(const NodeOptions& options);

    /// Whether there is anything to read.
    bool any() const { return end_ && end_->size > 0; }
    /// Off the node's loop: this may wait for the disk. Empty without a stream in a file.
    std::deque<History::Leadership> read() const;

private:
    struct End {
        dev_t device;
        ino_t file;
        off_t size;
    };

    std::string path_;
    StreamOwner owner_;
    std::optional<End> end_;  // none: there is no such file
};

}  // namespace bullring
