// `bullring key`: makes keys, and changes the file of a cluster's keys.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "src/commands/about_file.hpp"
#include "src/commands/commands.hpp"
#include "src/credentials/key_lines.hpp"
#include "src/options/text.hpp"
#include "src/os/private_file.hpp"
#include "src/report/logging.hpp"
#include "src/security/key_file.hpp"

namespace bullring {

namespace {

int refuse(const std::string& path, const std::string& what) {
    print_error(about_file(path, what));
    return wrong_usage;
}

int print(std::string_view text) {
    // No copy of a key stays behind in a buffer.
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return 0;
    print_error("stdout can't be written");
    return not_done;
}

int make_key(const KeyOptions& options) {
    const auto key = new_key();
    if (!key) {
        print_error(key.error());
        return not_done;
    }
    const SecretText line = line_of(*key);
    if (options.out.empty()) return print(line.view());
    const auto written = create_file(options.out, line.view(), secret_mode);
    if (written) return 0;
    if (written.error().exists)
        return refuse(options.out,
                      "is there already; expected a new one (bullring key add puts a "
                      "key into one that is there)");
    print_error(about_file(options.out, written.error().why));
    return not_done;
}

int list_keys(const std::vector<Key>& keys) {
    std::string text = "ID        USE\n";
    for (const Key& key : keys)
        text += key.id + (&key == keys.data() ? "  dialled with, and accepted\n" : "  accepted\n");
    return print(text);
}

tl::expected<SecretText, std::string> changed(const KeyOptions& options, std::string_view text) {
    if (options.action == KeyAction::use) return with_key_first(text, options.id);
    if (options.action == KeyAction::remove) return without_key(text, options.id);
    const auto key = new_key();
    if (!key) return tl::unexpected(key.error());
    return with_key_added(text, *key);
}

}  // namespace

int run_key(const KeyOptions& options) {
    if (options.action == KeyAction::make) return make_key(options);
    const auto before = read_private_file(options.file, key_file_bytes_max);
    if (!before) return refuse(options.file, before.error());
    const auto keys = parse_keys(before->view());
    if (!keys) {
        for (const std::string& problem : keys.error()) refuse(options.file, problem);
        return wrong_usage;
    }
    if (options.action == KeyAction::list) return list_keys(*keys);

    const auto after = changed(options, before->view());
    if (!after) return refuse(options.file, after.error());
    const auto written = replace_file(options.file, after->view(), secret_mode);
    if (!written) {
        print_error(about_file(options.file, written.error().why));
        return not_done;
    }
    const auto now = parse_keys(after->view());
    return now ? list_keys(*now) : not_done;
}

}  // namespace bullring
