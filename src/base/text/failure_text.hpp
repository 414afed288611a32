// The text of an exception for people: what has failed, the system's reason and, where that is a
// limit, which one it is and where it is raised.
#pragma once

#include <exception>
#include <string>

namespace bullring {

/// Of an errno, without what has failed. Any thread, as the next one.
std::string reason_text(int error);
/// On one line, without a full stop.
std::string failure_text(const std::exception& failure);

}  // namespace bullring
