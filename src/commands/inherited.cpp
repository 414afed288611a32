#include "src/commands/inherited.hpp"

#include <cerrno>
#include <initializer_list>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "src/os/owned_fd.hpp"

namespace bullring {

std::vector<int> open_missing_streams() {
    std::vector<int> missing;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number, which is the one that is missing.
        if (::open("/dev/null", O_RDONLY) < 0) break;
        missing.push_back(stream);
    }
    return missing;
}

void discard_writes_to(const std::vector<int>& streams) {
    const OwnedFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!nowhere) return;
    for (const int stream : streams)
        if (stream != STDIN_FILENO) ::dup2(nowhere.get(), stream);
}

void unblock_signals() {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace bullring
