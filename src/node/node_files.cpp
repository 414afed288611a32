#include "src/node/node_files.hpp"

#include <utility>

#include <asio/post.hpp>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

NodeFiles::NodeFiles(asio::io_context& io, std::string directory, StateDirectory state,
                     std::optional<protocol::Durable> last, std::optional<LocalListener> control,
                     Callbacks callbacks, DurationCounts* durations)
    : directory_(std::move(directory)),
      callbacks_(std::move(callbacks)),
      storage_(std::move(state), last,
               {[this, &io](const protocol::Durable& durable) {
                    asio::post(io, [this, durable] { callbacks_.persisted(durable); });
                },
                [this, &io](const std::string& why) {
                    asio::post(io, [this, why] { callbacks_.failed(why); });
                }},
               durations),
      control_(std::move(control)),
      watch_(io, directory_, [this](const std::string& name) { on_removed(name); }) {}

NodeFiles::~NodeFiles() = default;

void NodeFiles::on_removed(const std::string& name) {
    const bool any = name == DirectoryWatch::any_file;
    if (any || name == StateDirectory::state_name || name == StateDirectory::lock_name)
        storage_.put_back();
    if (any || name == control_socket_name) make_control_again();
    callbacks_.removed(name);
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
