// A leader's command for the bench: writes when it has begun and when it is asked to end, by
// CLOCK_BOOTTIME. It uses nothing of the project and starts quickly.
//
// Usage: bullring_gap_command FILE
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace {

int out = -1;

void say(const char* what) {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    char line[64];
    const int count = std::snprintf(
        line, sizeof line, "%s %lld\n", what,
        static_cast<long long>(now.tv_sec) * 1'000'000'000 + static_cast<long long>(now.tv_nsec));
    if (::write(out, line, static_cast<std::size_t>(count)) < 0) std::_Exit(1);
}

void on_signal(int) {
    say("end");
    std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    out = ::open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (out < 0) return 1;
    ::signal(SIGTERM, on_signal);
    ::signal(SIGUSR1, on_signal);
    say("begin");
    while (true) ::pause();
}
