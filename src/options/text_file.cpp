#include "src/options/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <system_error>

#include "src/options/text.hpp"

namespace bullring {

namespace {

constexpr std::size_t file_bytes_max = std::size_t{1} << 20U;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

tl::expected<std::string, std::string> read_text_file(const std::string& path) {
    const auto refuse = [&](const std::string& why) {
        return tl::unexpected("the file " + in_quotes(path) + " can't be read: " + why);
    };
    const auto system_reason = [] { return std::generic_category().message(errno); };

    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
    if (!file) return refuse(system_reason());
    std::string text;
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        text.append(buffer.data(), count);
        if (text.size() > file_bytes_max) return refuse("it is longer than 1 MiB");
    }
    if (std::ferror(file.get()) != 0) return refuse(system_reason());
    return text;
}

}  // namespace bullring
