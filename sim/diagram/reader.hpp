// Reads traces. Owns: what a line must have, and what is said when it has not. Must not judge what
// the lines tell.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/diagram/record.hpp"

namespace bullring::sim::diagram {

class TraceReader {
public:
    /// A whole file; `name` is its name in errors. A last line without its end, and the beginning
    /// of a line that a killed process could not finish, are passed over with a note; anything else
    /// that is no line of a trace throws DiagramError ("FILE:LINE: what is wrong").
    void add_file(std::string_view text, const std::string& name);
    /// One line, with or without its end.
    void add_line(std::string_view line, const std::string& where);

    /// Throws DiagramError when there is nothing in it.
    Trace take();

private:
    void read_line(std::string_view line, const std::string& where);
    void read_start(const nlohmann::ordered_json& line, const std::string& where);

    Trace trace_;
    std::map<std::string, std::string> first_lines_;  // and the files that begin with them
    bool without_true_time_ = false;                  // a line has been read that has none
};

}  // namespace bullring::sim::diagram
