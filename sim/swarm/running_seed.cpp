#include "sim/swarm/running_seed.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace bullring::sim {

thread_local std::uint64_t running_seed = 0;

namespace {

// Plain memory: a signal handler may not allocate.
char json_path[4096];
char run_flags[4096];

void put(int fd, const char* text) {
    const std::size_t size = std::strlen(text);
    if (::write(fd, text, size) < 0) return;
}

void put_number(int fd, std::uint64_t value) {
    char digits[24];
    char* at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put(fd, at);
}

void on_abort(int) {
    put(STDERR_FILENO, "bullring-sim: an assertion of the protocol broke in seed ");
    put_number(STDERR_FILENO, running_seed);
    put(STDERR_FILENO, "; see it with: bullring-sim run");
    put(STDERR_FILENO, run_flags);
    put(STDERR_FILENO, " --seed ");
    put_number(STDERR_FILENO, running_seed);
    put(STDERR_FILENO, "\n");
    if (json_path[0] != '\0') {
        const int fd = ::open(json_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd >= 0) {
            put(fd, "{\"seeds\":1,\"violations\":[{\"seed\":");
            put_number(fd, running_seed);
            put(fd, ",\"flags\":\"");
            put(fd, run_flags);
            put(fd, "\",\"check\":\"assert\",\"what\":\"an assertion of the protocol\"}]}\n");
            ::close(fd);
        }
    }
    ::_exit(1);
}

}  // namespace

void name_the_seed_on_abort(const std::string& json, const std::string& flags) {
    std::snprintf(json_path, sizeof json_path, "%s", json.c_str());
    std::snprintf(run_flags, sizeof run_flags, "%s", flags.c_str());
    std::signal(SIGABRT, on_abort);
}

}  // namespace bullring::sim
