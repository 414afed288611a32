// Owns: the file by which a node that joins by itself remembers that somebody has removed it, so
// that no restart brings it back. It is there until the node is a member again.
#pragma once

#include <string>

namespace bullring {

class RemovedMark {
public:
    explicit RemovedMark(const std::string& data_dir);

    bool is_set() const;
    /// Both block as long as the disk does. Why it can't be, for people; empty: it is.
    std::string set() const;
    std::string clear() const;

private:
    std::string path_;
};

}  // namespace bullring
