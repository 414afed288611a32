// Owns: how lines on stderr show their priority where systemd's journal reads them: by "<4>" before
// each (sd-daemon(3)). Without it `journalctl -p warning` shows nothing.
#pragma once

#include <string_view>

#include "src/base/log/log_options.hpp"

namespace bullring {

/// Whether this descriptor is the stream that systemd has named in JOURNAL_STREAM
/// (systemd.exec(5)).
bool is_journal(int fd);

/// The prefix of a line on stderr: empty where stderr is not the journal. Asked once.
std::string_view journal_prefix(LogLevel level);

}  // namespace bullring
