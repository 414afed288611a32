// Directories and files of one test; gone when the test is over.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace bullring::test {

class TemporaryDirectory {
public:
    TemporaryDirectory()
        : path_((std::filesystem::temp_directory_path() / "bullring-test-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view text) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    const std::string& path() const { return path_; }

private:
    TemporaryDirectory directory_;
    std::string path_ = directory_ / "file";
};

}  // namespace bullring::test
