#include "src/node/report/trace_file.hpp"

#include <utility>

namespace bullring {

using protocol::Instant;

void TraceFile::started(Instant now, const protocol::Config& config) {
    std::string lines;
    recorder_.on_start({now}, config, lines);
    write(std::move(lines));
}

void TraceFile::add(Instant now, const protocol::Event& event,
                    const std::vector<protocol::Action>& actions) {
    std::string lines;
    recorder_.on_event({now}, event, lines);
    for (const protocol::Action& action : actions) recorder_.on_action({now}, action, lines);
    write(std::move(lines));
}

void TraceFile::stopped(Instant now, const std::string& reason) {
    std::string lines;
    recorder_.on_stop({now}, reason, lines);
    write(std::move(lines));
}

void TraceFile::write(std::string lines) {
    if (!lines.empty()) writer_.write(stream_, std::move(lines));
}

}  // namespace bullring
