// Measures the head of an HTTP request while it arrives: the server's parser has limits for its
// parts, and closes without a word when one is passed. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace bullring {

class HeadMeter {
public:
    static constexpr std::size_t head_max = 8 * 1024;

    enum class Verdict { fits, too_large };

    /// Takes the bytes that were read next. After the end of a request begin_again() is called.
    Verdict read(std::string_view bytes) {
        for (const char byte : bytes) {
            if (whole_) return Verdict::fits;
            // "\r\n\r\n"; the parser takes "\n\n" and "\n\r" with any byte behind it for that, and
            // skips empty lines before the first.
            if (ends_) {
                whole_ = true;
            } else if (byte == '\n') {
                whole_ = line_is_empty_ && any_line_;
                any_line_ = any_line_ || !line_is_empty_;
                line_is_empty_ = true;
            } else if (byte == '\r') {
                ends_ = line_is_empty_ && any_line_;
            } else {
                line_is_empty_ = false;
            }
            if (++length_ > head_max) return Verdict::too_large;
        }
        return Verdict::fits;
    }
    void begin_again() { *this = {}; }

private:
    std::size_t length_ = 0;
    bool any_line_ = false;
    bool line_is_empty_ = true;
    bool ends_ = false;  // with the next byte
    bool whole_ = false;
};

}  // namespace bullring
