// Owns: how lines on stderr tell their priority where systemd's journal reads them: by "<4>" before
// each (sd-daemon(3)). Without it `journalctl -p warning` shows nothing.
#pragma once

#include <string_view>

#include "src/options/node_options.hpp"

namespace bullring {

/// Whether this descriptor is the stream that systemd has named in JOURNAL_STREAM
/// (systemd.exec(5)).
bool is_journal(int fd);

/// What a line on stderr begins with: empty where it is not the journal. Asked once.
std::string_view journal_prefix(LogLevel level);

}  // namespace bullring
