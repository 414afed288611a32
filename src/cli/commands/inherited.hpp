// Owns: what the process inherits from its parent: standard streams, blocked and ignored signals.
#pragma once

namespace bullring {

/// Opens /dev/null in the place of stdin, stdout and stderr as far as they are closed: what is
/// opened later must not take their numbers, and be written to. They can only be read, so a command
/// that prints an answer finds that stdout can't be written.
void open_missing_streams();

/// From now on what is written to those goes nowhere: for a program that has work to do, and for
/// what it starts.
void discard_writes_to_missing_streams();

/// None is blocked any more. A parent may block those by which it is ended, in its threads or while
/// it starts this program, and would never be able to end it by them.
void unblock_signals();

/// Whether this signal is ignored, as nohup(1) has it with SIGHUP.
bool is_ignored(int signal);

}  // namespace bullring
