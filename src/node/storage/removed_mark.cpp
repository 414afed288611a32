#include "src/node/storage/removed_mark.hpp"

#include <cerrno>
#include <system_error>

#include <unistd.h>

#include "src/base/os/private_file.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

RemovedMark::RemovedMark(const std::string& data_dir) : path_(data_dir + "/" + removed_file_name) {}

bool RemovedMark::is_set() const { return ::access(path_.c_str(), F_OK) == 0; }

std::string RemovedMark::set() const {
    const auto made = create_file(
        path_, "This node was removed. It is added again by bullring member add.\n", public_mode);
    return made || made.error().exists ? "" : path_ + ": " + made.error().why;
}

std::string RemovedMark::clear() const {
    if (::unlink(path_.c_str()) == 0 || errno == ENOENT) return "";
    return path_ + ": " + std::generic_category().message(errno);
}

}  // namespace bullring
