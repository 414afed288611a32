// Takes the bytes of one event stream apart into lines, and the lines into a history.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/verify/audit/history.hpp"

namespace bullring::audit {

/// Why a file is not an event stream.
struct WrongStream {
    std::size_t line = 0;  // from 1
    std::string what;
};

class StreamReader {
public:
    /// `history` has opened its file.
    explicit StreamReader(History& history) : history_(history) {}

    /// Bytes as they come, in whatever pieces. After a complaint there is nothing more to read.
    std::optional<WrongStream> read(std::string_view bytes);
    /// There are no more. A last line without an end is taken as far as it was written.
    std::optional<WrongStream> end();

private:
    std::optional<WrongStream> take(std::string_view line);

    History& history_;
    std::string rest_;  // of a line whose end is still to come
    std::size_t line_ = 0;
};

}  // namespace bullring::audit
