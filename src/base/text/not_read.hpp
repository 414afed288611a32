// Why a file was not read.
#pragma once

#include <string>

namespace bullring {

struct NotRead {
    std::string why;  // for people
    /// Time or another program may mend it: the file is not there, not permitted, or empty yet.
    /// What is in it, or the mode that it has been given, is mended by people alone.
    bool passes = false;
};

}  // namespace bullring
