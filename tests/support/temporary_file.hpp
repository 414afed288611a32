// A file with the text that a test needs; gone when the test is over.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

namespace bullring::test {

class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view text)
        : path_((std::filesystem::temp_directory_path() / "bullring-test-XXXXXX").string()) {
        const int descriptor = mkstemp(path_.data());
        if (descriptor < 0) throw std::runtime_error("no temporary file");
        close(descriptor);
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace bullring::test
