#include "src/node/node_files.hpp"

#include <utility>

#include <asio/post.hpp>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

NodeFiles::NodeFiles(asio::io_context& io, DirectoryWatch& watch, std::string directory,
                     StateDirectory state, std::optional<protocol::Durable> last,
                     std::optional<LocalListener> control, Callbacks callbacks,
                     DurationCounts* durations)
    : directory_(std::move(directory)),
      callbacks_(std::move(callbacks)),
      storage_(std::move(state), last,
               {[this, &io](const protocol::Durable& durable) {
                    asio::post(io, [this, durable] { callbacks_.persisted(durable); });
                },
                [this, &io](const std::string& why) {
                    asio::post(io, [this, why] { callbacks_.failed(why); });
                },
                [this, &io](const Storage::Place& place) {
                    asio::post(io, [this, place] { on_looked(place); });
                }},
               durations),
      control_(std::move(control)) {
    watch.add(directory_, [this](const std::string& name) { on_removed(name); });
}

NodeFiles::~NodeFiles() = default;

void NodeFiles::on_removed(const std::string& name) {
    const bool any = name == DirectoryWatch::any_file;
    if (any || name == StateDirectory::state_name || name == StateDirectory::lock_name)
        storage_.look();
    if (any) return;  // whose directory it is by now is looked at first
    if (name == control_socket_name) make_control_again();
    callbacks_.removed(name);
}

void NodeFiles::on_looked(const Storage::Place& place) {
    if (place.misplaced != misplaced_) {
        misplaced_ = place.misplaced;
        if (misplaced_.empty())
            log(LogLevel::warn, "the path " + directory_ + " leads to this node's data again");
        else
            log(LogLevel::error, misplaced_);
        callbacks_.misplaced(misplaced_);
    }
    if (!place.held) return;  // those of others may be there
    make_control_again();
    callbacks_.removed(DirectoryWatch::any_file);
}

void NodeFiles::make_control_again() {
    if (!control_ || control_->is_there()) return;
    control_.reset();
    auto again = LocalListener::open(directory_, control_socket_name, SOCK_STREAM);
    if (!again)
        return log(LogLevel::warn,
                   "somebody has removed the socket for bullring resign --local: " + again.error());
    control_.emplace(std::move(*again));
    log(LogLevel::warn, std::string("somebody has removed ") + control_socket_name + " from " +
                            directory_ + "; it is there again");
    callbacks_.reachable(control_->take());
}

}  // namespace bullring
