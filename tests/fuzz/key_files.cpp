// The file of a cluster's keys, as a node reads it and as `bullring key` changes it, and the names
// of keys in TLS. A file is keys or reasons, which show no key; what is written of a key is read as
// that key; a change does what it says to the keys and leaves all other lines.
#include <algorithm>
#include <array>

#include "src/base/text/text.hpp"
#include "src/cli/credentials/key_lines.hpp"
#include "src/security/psk.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_file.hpp"

using namespace bullring;
using fuzz::expect;

namespace {

using Keys = std::vector<Key>;

constexpr std::size_t known_keys = 12;  // more than a file may have
/// As much of a key as nobody may see by chance.
constexpr std::size_t letters_shown_max = 8;
constexpr std::size_t prefix_bytes = std::string_view("bullring-key-v1:").size();

/// With its end.
const std::string& known_line(std::size_t which) {
    static const auto lines = [] {
        std::array<std::string, known_keys> made;
        for (std::size_t i = 0; i < known_keys; ++i) {
            Key key;
            for (std::size_t at = 0; at < key_bytes; ++at)
                key.bytes[at] = static_cast<std::uint8_t>(41 * at + 97 * i + 5);
            made[i] = line_of(key).view();
        }
        return made;
    }();
    return lines[which % known_keys];
}

/// Lines with keys, some of them damaged, and whatever else.
std::string file_of(fuzz::Input& input) {
    std::string text;
    while (!input.empty()) {
        const std::size_t what = input.number();
        const std::string& line = known_line(what / 8);
        switch (what % 8) {
            case 0: text += line; break;
            case 1: text += std::string_view(line).substr(0, line.size() - 1); break;
            case 2: {
                std::string damaged = line;
                damaged[input.number() % damaged.size()] = static_cast<char>(input.number());
                text += damaged;
                break;
            }
            case 3: text += std::string_view(line).substr(0, prefix_bytes); break;
            case 4: text += std::string_view(line).substr(prefix_bytes); break;
            case 5: text += '\n'; break;
            default: text += input.text(128); break;
        }
    }
    return text;
}

void check_problem(const std::string& problem) {
    expect(!problem.empty(), "refused without a reason");
    expect(problem == one_line(problem), "a problem that a terminal would obey");
    for (std::size_t i = 0; i < known_keys; ++i) {
        const std::string_view line = known_line(i);
        for (std::size_t at = prefix_bytes; at + letters_shown_max < line.size(); ++at)
            expect(problem.find(line.substr(at, letters_shown_max)) == std::string::npos,
                   "a problem that shows a key");
    }
}

void check_keys(const Keys& keys) {
    expect(!keys.empty() && keys.size() <= keys_max, "a number of keys that no file has");
    for (const Key& key : keys) {
        expect(std::count(keys.begin(), keys.end(), key) == 1, "a key twice");
        const auto again = parse_keys(line_of(key).view());
        expect(again && *again == Keys{key}, "its own line is another key");
    }
}

/// Lines without a key, in their order.
std::vector<std::string_view> other_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (!parse_keys(line)) lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

void check_change(const tl::expected<SecretText, std::string>& changed, std::string_view text,
                  const Keys& wanted) {
    if (!changed) return check_problem(changed.error());
    const auto keys = parse_keys(changed->view());
    // The limit of a file's length is all that may be in the way.
    expect(keys ? *keys == wanted : changed->view().size() > key_file_bytes_max,
           "a change does something else");
    expect(other_lines(changed->view()) == other_lines(text), "a change takes other lines, too");
}

void check_changes(std::string_view text, const Keys& keys, std::size_t which) {
    const auto asked = keys.begin() + static_cast<std::ptrdiff_t>(which % keys.size());
    Keys first = keys;
    std::rotate(first.begin(), first.begin() + (asked - keys.begin()),
                first.begin() + (asked - keys.begin()) + 1);
    check_change(with_key_first(text, asked->id), text, first);
    Keys fewer = keys;
    fewer.erase(fewer.begin() + (asked - keys.begin()));
    const auto removed = without_key(text, asked->id);
    expect(removed.has_value() == (asked != keys.begin()), "the key for dialling is removed");
    check_change(removed, text, fewer);
    const Keys added = *parse_keys(known_line(which));
    Keys more = keys;
    more.push_back(added.front());
    check_change(with_key_added(text, added.front()), text, more);
    const auto unknown = with_key_first(text, "no key");
    expect(!unknown, "a key that is not there");
    check_problem(unknown.error());
}

void check_psk_identity(std::string_view text) {
    const auto identity = parse_psk_identity(text);
    if (!identity) return;
    expect(to_text(*identity) == text, "a name has two texts");
    expect(derive_psk(Key(), *identity).has_value(), "a name without a key");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::MemoryFile file;
    fuzz::Input input(data, size);
    const std::size_t which = input.number();
    if (which == 255) {
        check_psk_identity(input.rest());
        return 0;
    }
    file.hold(file_of(input));
    const auto text = read_private_file(file.path(), key_file_bytes_max);
    if (!text) {
        check_problem(text.error().why);
        return 0;
    }
    const auto keys = parse_keys(text->view());
    if (!keys) {
        expect(!keys.error().empty(), "refused without a reason");
        for (const std::string& problem : keys.error()) check_problem(problem);
        return 0;
    }
    check_keys(*keys);
    check_changes(text->view(), *keys, which);
    return 0;
}
