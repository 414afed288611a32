// Owns: finding a command's program, and saying why it cannot be executed.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace bullring {

struct NoProgram {
    int error = 0;  // ENOENT, EACCES
    std::string text;
};

/// Its path, as a shell would look for it. A script's interpreter has to be there, too.
tl::expected<std::string, NoProgram> find_program(const std::string& name);

}  // namespace bullring
