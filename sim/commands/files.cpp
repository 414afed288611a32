#include "sim/commands/files.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace bullring::sim {

namespace {

[[noreturn]] void refuse(const std::string& path, const char* what, int error) {
    throw CLI::FileError(
        fmt::format("{} can't be {}: {}", path, what, std::generic_category().message(error)));
}

bool is_directory(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

}  // namespace

std::string read_file(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    if (is_directory(path)) refuse(path, "read", EISDIR);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) refuse(path, "read", errno == 0 ? EIO : errno);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) refuse(path, "read", errno == 0 ? EIO : errno);
    return text;
}

void write_file(const std::string& path, const std::string& text) {
    if (path == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
            std::fflush(stdout) != 0)
            refuse("stdout", "written", errno);
        return;
    }
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text << std::flush;
    if (!file) refuse(path, "written", errno == 0 ? EIO : errno);
}

void check_writable(const std::string& path) {
    if (path.empty()) return;
    if (path == "-")
        throw CLI::FileError("'-': stdout is taken here; the name of a file is needed");
    if (is_directory(path)) refuse(path, "written", EISDIR);
    const std::filesystem::path file(path);
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    const bool exists = ::access(path.c_str(), F_OK) == 0;
    if (!exists && ::access(folder.c_str(), F_OK) == 0 && !is_directory(folder))
        refuse(path, "written", ENOTDIR);
    if (::access(exists ? path.c_str() : folder.c_str(), exists ? W_OK : W_OK | X_OK) != 0)
        refuse(path, "written", errno);
}

}  // namespace bullring::sim
