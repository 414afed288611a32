// Owns: writes to stdout or stderr that hold up nobody for longer than they may, even if nobody
// reads. These streams are shared with other programs, so they must not be made non-blocking, and
// poll() promises nothing: another program may fill the stream before the write.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace bullring {

/// Writes all of it, and waits for the reader, also where another program has made the stream
/// non-blocking: that holds for all that share it. False when the stream has failed.
bool write_waiting(int fd, std::string_view text);

/// Returns at once; a thread of its own writes what it is given, in that order. Of what nobody
/// reads it keeps a little, and drops the rest. Called by one thread of a process.
void write_soon(int fd, std::string text);

/// Until all of that is written, or its stream has failed; at most for `patience`. A process whose
/// main thread ends takes along what is not.
void finish_writing(std::chrono::milliseconds patience);

}  // namespace bullring
