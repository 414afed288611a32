// Asks the kernel whether a descriptor is ready. A wait of Asio's may end by an event of another
// descriptor, which was closed just before and whose place in the reactor this one has got: whoever
// reads or writes afterwards is told so; whoever takes the event itself for news has to ask.
#pragma once

#include <poll.h>

namespace bullring {

inline bool is_ready(int descriptor, short events = POLLIN) {
    pollfd one{descriptor, events, 0};
    return ::poll(&one, 1, 0) > 0;
}

}  // namespace bullring
