// The reader of traces as files (protocol/trace/trace.hpp). Owns what a line must have and what is
// said when it has not. Must not judge what the lines say.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "protocol/diagram/trace.hpp"

namespace bullring::sim::diagram {

using namespace protocol::diagram;

/// Something about the traces or the wishes that makes a picture impossible; for a user's eyes.
class DiagramError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

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
