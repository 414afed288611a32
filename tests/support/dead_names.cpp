#include "tests/support/dead_names.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <netdb.h>

namespace bullring::test {

namespace {

struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::string> ending;
};

State& state() {
    static auto* const one = new State;  // threads may wait in it to the end of the process
    return *one;
}

/// True when the name is dead; after it has been so for as long as anybody waits.
bool wait_while_dead(std::string_view name) {
    std::unique_lock lock(state().mutex);
    const auto dead = [&] { return state().ending && name.ends_with(*state().ending); };
    if (!dead()) return false;
    state().changed.wait(lock, [&] { return !dead(); });
    return true;
}

}  // namespace

DeadNames::DeadNames(const std::string& ending) {
    const std::lock_guard lock(state().mutex);
    state().ending = ending;
}

DeadNames::~DeadNames() {
    const std::lock_guard lock(state().mutex);
    state().ending.reset();
    state().changed.notify_all();
}

}  // namespace bullring::test

// The program's own definition comes before the C library's.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** result) {
    using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (name != nullptr && bullring::test::wait_while_dead(name)) return EAI_AGAIN;
    return real(name, service, hints, result);
}
