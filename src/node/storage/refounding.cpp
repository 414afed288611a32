#include "src/node/storage/refounding.hpp"

#include <optional>

#include <fmt/format.h>

namespace bullring {

using protocol::Durable;

tl::expected<Refounding, std::string> refound(const std::string& data_dir,
                                              const StateIdentity& identity, protocol::Epoch clock,
                                              bool write) {
    // Before anything is made there.
    const auto sight = StateDirectory::look_at(data_dir, identity);
    if (!sight) return tl::unexpected(sight.error());
    if (sight->in_use) return tl::unexpected(*sight->in_use + "; stop the node first");
    if (!sight->state)
        return tl::unexpected("there is no state file in " + data_dir +
                              "; refound a node that was a member");
    const auto directory = StateDirectory::open(data_dir, identity, protocol::Duration{0});
    if (!directory) return tl::unexpected(directory.error());
    const auto file = directory->load();
    if (!file) return tl::unexpected(file.error());
    const Durable before = file->value_or(Durable{});
    if (before.members.find(identity.self) == nullptr)
        return tl::unexpected(
            fmt::format("node {} is not in its own list of members, which has {}: it was removed; "
                        "refound a node that is one of them",
                        identity.self.value, protocol::ids_text(before.members)));
    if (before.members.size() == 1) return Refounding{before, before};
    const Durable after = protocol::refounded(before, identity.self, clock);
    if (!write) return Refounding{before, after};
    if (auto saved = directory->save(after); !saved) return tl::unexpected(saved.error());
    const auto written = directory->load();
    if (!written) return tl::unexpected(written.error());
    if (*written != after)
        return tl::unexpected("the state in " + data_dir +
                              " is not what was written: another program changes it, too");
    return Refounding{before, after};
}

}  // namespace bullring
