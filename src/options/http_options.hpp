// Where HTTP is to be served, as users say it: HOST:PORT or unix:PATH, and who may use it.
#pragma once

#include <optional>
#include <string>

#include "src/options/node_options.hpp"
#include "src/options/request.hpp"

namespace bullring {

/// As it was given, by whatever means.
struct HttpTexts {
    std::optional<std::string> address;
    Asked<bool> open_to_all;
    std::optional<std::string> token_file;
};

/// What is wrong is reported. Reads the token file, to see that it can be read.
HttpOptions http_options(const HttpTexts& texts, Report& report);

}  // namespace bullring
