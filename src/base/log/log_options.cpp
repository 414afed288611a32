#include "src/base/log/log_options.hpp"

#include "protocol/values/names.hpp"

namespace bullring {

const char* name(LogLevel level) {
    switch (level) {
        case LogLevel::trace: return "trace";
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return protocol::no_name;
}

const char* name(LogFormat format) {
    switch (format) {
        case LogFormat::text: return "text";
        case LogFormat::json: return "json";
    }
    return protocol::no_name;
}

}  // namespace bullring
