// The files that a node is told of: it writes none that it keeps or reads, and says which of them
// others may change.
#include "src/settings/check_files.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/settings/data_files.hpp"
#include "tests/support/parsed_options.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::check_files_test {

using namespace bullring::test;

namespace {

void make_file(const std::string& path) { std::ofstream(path) << "theirs"; }

/// A node with its data in a directory of its own.
struct Told {
    std::vector<std::string> problems(const Words& more) const {
        return problems_of(node_words(with({"--data-dir", data}, more)));
    }
    std::vector<LooseFile> loose(const Words& more = {}) const {
        return options_of<NodeOptions>(node_words(with({"--data-dir", data}, more))).loose_files;
    }

    const TemporaryDirectory directory;
    const std::string data = directory / "data";
};

}  // namespace

TEST_CASE("files: a node writes nothing over what it keeps, by whichever name that is told") {
    const Told told;
    const auto is_refused = [&](const std::string& flag, const std::string& path,
                                const std::string& name) {
        CAPTURE(path);
        const std::string value = flag == "http" ? "unix:" + path : path;
        CHECK(told.problems({"--" + flag, value}) ==
              std::vector<std::string>{"--" + flag + ": \"" + path + "\" is the file " + name +
                                       " of the data directory " + told.data +
                                       "; expected a file of its own"});
    };
    for (const bool there : {false, true}) {
        CAPTURE(there);
        if (there) std::filesystem::create_directory(told.data);
        for (const std::string name : data_file_names) {
            const std::string own = told.data + "/" + name;
            if (there) make_file(own);
            const std::string link = told.directory / ("link-" + name);
            if (!there) std::filesystem::create_symlink("data/" + name, link);
            for (const std::string flag : {"events", "trace", "http"}) {
                is_refused(flag, own, name);
                is_refused(flag, told.directory.path() + "/./data//../data/" + name, name);
                is_refused(flag, link, name);
            }
            if (!there) continue;
            std::filesystem::create_hard_link(own, told.directory / ("hard-" + name));
            is_refused("events", told.directory / ("hard-" + name), name);
        }
    }
    CHECK(told.problems({"--events", told.data + "/events", "--trace", told.data + "/trace"}) ==
          std::vector<std::string>{});
    CHECK(told.problems({"--events", "-", "--trace", "/dev/null"}) == std::vector<std::string>{});
}

TEST_CASE("files: a node writes nothing over what it reads, nor two streams into one file") {
    const Told told;
    const std::string key = told.directory / "key";
    std::ofstream(key) << "bullring-key-v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
    REQUIRE(::chmod(key.c_str(), 0600) == 0);
    CHECK(told.problems({"--events", key, "--security", "key", "--key-file", key}) ==
          std::vector<std::string>{"--events: \"" + key +
                                   "\" is the file of --key-file; expected a file of its own"});
    const std::string config = told.directory / "config";
    std::ofstream(config) << "trace = \"" << config << "\"\n";
    CHECK(told.problems({"--config", config}) ==
          std::vector<std::string>{"trace in " + config + ": \"" + config +
                                   "\" is the file of --config; expected a file of its own"});
    const std::string both = told.directory / "both";
    CHECK(told.problems({"--events", both, "--trace", both}) ==
          std::vector<std::string>{"--trace: \"" + both +
                                   "\" is the file of --events; expected a file of its own"});
    CHECK(told.problems({"--events", "/dev/null", "--trace", "/dev/null"}) ==
          std::vector<std::string>{});
}

TEST_CASE("files: what others may change is said, and nothing else") {
    const Told told;
    CHECK(told.loose().empty());  // it is not there yet
    std::filesystem::create_directory(told.data);
    const std::string config = told.directory / "config";
    std::ofstream(config) << "priority = 0\n";
    const auto with_mode = [&](const std::string& path, mode_t mode) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        return told.loose({"--config", config});
    };
    REQUIRE(::chmod(config.c_str(), 0644) == 0);
    // As bullring and systemd make it, as users whose group is their own do, and as /tmp is.
    for (const mode_t mode : {0700U, 0755U, 0775U, 02775U, 01777U}) {
        CAPTURE(mode);
        CHECK(with_mode(told.data, mode).empty());
    }
    const auto loose = with_mode(told.data, 0777);
    REQUIRE(loose.size() == 1);
    CHECK(loose[0].subject == "data directory " + told.data);
    CHECK(loose[0].what.find("(mode 0777)") != std::string::npos);
    CHECK(loose[0].remedy.find("chmod 700") != std::string::npos);
    CHECK(with_mode(config, 0646).size() == 2);
    CHECK(with_mode(told.data, 0700).size() == 1);
    if (::geteuid() != 0) return;
    REQUIRE(::chown(told.data.c_str(), 0, 4711) == 0);
    CHECK(with_mode(told.data, 0770).size() == 2);
}

}  // namespace bullring::check_files_test
