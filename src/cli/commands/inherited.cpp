#include "src/cli/commands/inherited.hpp"

#include <cerrno>
#include <initializer_list>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

std::vector<int>& missing_streams() {
    static std::vector<int> missing;
    return missing;
}

}  // namespace

void open_missing_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number, which is the one that is missing.
        if (::open("/dev/null", O_RDONLY) < 0) break;
        missing_streams().push_back(stream);
    }
}

void discard_writes_to_missing_streams() {
    const OwnedFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!nowhere) return;
    for (const int stream : missing_streams())
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
