// A process for the bench that leads through its node (bullring-attach(7)) and writes when it is
// told so, by CLOCK_BOOTTIME. It uses nothing of the project, starts quickly, and is quick to be
// ended: the kernel takes 2 ms to end a Python interpreter.
//
// Usage: bullring_attached_holder DATA-DIR NUMBER EVENTS …
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    sockaddr_un node{};
    node.sun_family = AF_UNIX;
    std::snprintf(node.sun_path, sizeof node.sun_path, "%s/attach.sock", argv[1]);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int out = ::open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&node), sizeof node) != 0) return 1;
    constexpr char campaign[] = "{\"op\":\"campaign\"}\n";
    if (out < 0 || ::send(socket, campaign, sizeof campaign - 1, 0) < 0) return 1;
    char said[8192];
    ssize_t count = 0;
    while ((count = ::recv(socket, said, sizeof said - 1, 0)) > 0) {
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        said[count] = '\0';
        constexpr char elected[] = "\"event\":\"elected\",\"epoch\":";
        const char* const found = std::strstr(said, elected);
        if (found == nullptr) continue;
        const std::time_t at = std::time(nullptr);
        char time[32];
        std::strftime(time, sizeof time, "%FT%TZ", std::gmtime(&at));
        char line[256];
        const int size = std::snprintf(
            line, sizeof line, "{\"ts_ns\":%lld,\"time\":\"%s\",\"node\":%s,%s%llu}\n",
            static_cast<long long>(now.tv_sec) * 1'000'000'000 +
                static_cast<long long>(now.tv_nsec),
            time, argv[2], elected, std::strtoull(found + sizeof elected - 1, nullptr, 10));
        if (::write(out, line, static_cast<std::size_t>(size)) < 0) return 1;
    }
    return 0;
}
