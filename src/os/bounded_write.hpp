// Owns: a write to stdout or stderr that ends in time even if nobody reads. These streams are
// shared with other programs, so they must not be made non-blocking, and poll() promises nothing:
// another program may fill the stream before the write.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace bullring {

/// Writes all of it, and waits for the reader, also where another program has made the stream
/// non-blocking: that holds for all that share it. False when the stream has failed.
bool write_waiting(int fd, std::string_view text);

/// Returns when the text is written, the stream has failed, or `patience` is over. In the last case
/// a thread is left behind that goes on trying until this process ends; as long as it does, further
/// texts are dropped.
void write_within(int fd, std::string text, std::chrono::milliseconds patience);

/// Before a process ends whose patience was short: waits for the thread that was left behind, if
/// there is one. On a busy machine it may not even have begun.
void finish_writing(std::chrono::milliseconds patience);

}  // namespace bullring
