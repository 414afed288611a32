#include "src/options/options_commands.hpp"
#include "src/options/options_reader.hpp"
#include "src/options/peer_list.hpp"

namespace bullring {

namespace {

/// What all three have in common.
template <class Options>
Options observer_options(OptionReader& reader) {
    Options options;
    reader.require("peers", "ID=HOST:PORT,… or @FILE");
    options.peers = reader.peers();
    options.cluster = reader.cluster();
    options.log = reader.log();
    return options;
}

}  // namespace

StatusOptions status_options(const RawValues& values, Problems& problems) {
    OptionReader reader(values, problems);
    auto options = observer_options<StatusOptions>(reader);
    options.json = reader.boolean("json").value_or(options.json);
    options.wait = reader.boolean("wait").value_or(options.wait);
    options.timeout = reader.positive_duration("timeout").value_or(options.timeout);
    return options;
}

WatchOptions watch_options(const RawValues& values, Problems& problems) {
    OptionReader reader(values, problems);
    return observer_options<WatchOptions>(reader);
}

ResignOptions resign_options(const RawValues& values, Problems& problems) {
    OptionReader reader(values, problems);
    auto options = observer_options<ResignOptions>(reader);
    options.timeout = reader.positive_duration("timeout").value_or(options.timeout);
    options.to = reader.node_id("to").value_or(options.to);
    if (options.to && !options.peers.empty() && !options.peers.contains(options.to)) {
        reader.refuse("to", "is not in the peer list, which has " + ids_text(options.peers));
    }
    return options;
}

}  // namespace bullring
