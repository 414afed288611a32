// How much is logged, and in which form.
#pragma once

#include <bullring/log.hpp>

namespace bullring {

enum class LogFormat { text, json };

const char* name(LogLevel level);
const char* name(LogFormat format);

struct LogOptions {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::text;
};

}  // namespace bullring
