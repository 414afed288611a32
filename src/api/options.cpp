// How problems with options are listed and thrown.
#include <utility>

#include <bullring/options.hpp>

#include "src/api/option_values.hpp"

namespace bullring {

std::vector<std::string> Options::problems() const {
    Problems problems;
    library_options(*this, problems);
    return problems;
}

ConfigError::ConfigError(std::vector<std::string> problems)
    : std::invalid_argument(joined(problems)), problems_(std::move(problems)) {}

ConfigError::~ConfigError() = default;

NodeError::NodeError(const std::string& what) : std::runtime_error(what) {}

NodeError::~NodeError() = default;

}  // namespace bullring
