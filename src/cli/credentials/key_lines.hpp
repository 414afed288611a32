// Changes to the text of a file of keys. All other lines of it stay as they are, comments included.
// The errors are for people; they go on where "the file FILE " stops.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "src/security/key_file.hpp"

namespace bullring {

/// At the end, where a key is accepted and not dialled with.
tl::expected<SecretText, std::string> with_key_added(std::string_view text, const Key& key);
/// Before all others.
tl::expected<SecretText, std::string> with_key_first(std::string_view text, std::string_view id);
/// Not the first one: other members may still dial with it.
tl::expected<SecretText, std::string> without_key(std::string_view text, std::string_view id);

}  // namespace bullring
