// Owns: what a running node has in its data directory: its state, and the socket by which its owner
// reaches it. What somebody else removes there is put back, and said.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "src/base/os/local_socket.hpp"
#include "src/node/storage/storage.hpp"
#include "src/watch/directory_watch.hpp"

namespace bullring {

class NodeFiles {
public:
    /// All come in the loop.
    struct Callbacks {
        std::function<void(const protocol::Durable&)> persisted;
        std::function<void(const std::string& why)> failed;    // nothing more will be written
        std::function<void(OwnedFd listener)> reachable;       // anew, by a socket
        std::function<void(const std::string& name)> removed;  // or any_file
        /// The path of the directory leads to another one, for this reason; empty: not any more.
        std::function<void(const std::string& why)> misplaced;
    };

    /// `last`: what the state file said at the start, if there was one. `control`: none where it
    /// could not be made. `watch` outlives it.
    NodeFiles(asio::io_context& io, DirectoryWatch& watch, std::string directory,
              StateDirectory state, std::optional<protocol::Durable> last,
              std::optional<LocalListener> control, Callbacks callbacks, DurationCounts* durations);
    /// Before the loop's end: the writing thread posts to it.
    ~NodeFiles();

    void write(const protocol::Durable& durable) { storage_.write(durable); }
    /// Once.
    OwnedFd take_control() { return control_ ? control_->take() : OwnedFd(); }

private:
    void on_removed(const std::string& name);
    void on_looked(const Storage::Place& place);
    void make_control_again();

    std::string directory_;
    std::string misplaced_;
    Callbacks callbacks_;
    Storage storage_;
    std::optional<LocalListener> control_;  // ends before the directory's lock
};

}  // namespace bullring
