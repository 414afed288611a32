#include "src/node/observers/watch_sequence.hpp"

#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/text.hpp"
#include "src/node/leaders/leader_log.hpp"

namespace bullring {

std::string watch_line(const ObserverChange& change) {
    Json line;
    line["ts_ns"] = change.ts_ns;
    line["leader"] = id_or_null(change.leader);
    line["epoch"] = change.epoch.value;
    line["advertised"] = change.advertised;
    return json_text(line);
}

std::string watch_text(const ObserverChange& change, WallClockTime now) {
    const std::time_t second = std::chrono::system_clock::to_time_t(now);
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
    std::tm local{};
    ::localtime_r(&second, &local);
    std::string text = fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} {:%z}  ", local, ms % 1000, local);
    if (!change.leader)
        return text + (change.epoch == protocol::Epoch{}
                           ? "no leader"
                           : fmt::format("no leader; the last epoch is {}", change.epoch.value));
    text += fmt::format("node {} leads in epoch {}", change.leader.value, change.epoch.value);
    if (!change.advertised.empty()) text += ", " + in_quotes(change.advertised);
    return text + after_gap(change.gap);
}

std::optional<ObserverChange> WatchSequence::on_state(const ObserverChange& state,
                                                      protocol::Duration now) {
    // Without a leader the epoch is the highest that the member has seen: if even that is below the
    // leader last printed, the member has not heard of that leader yet.
    if (state.epoch < last_epoch_) {
        if (!held_since_) held_since_ = now;
        if (now - *held_since_ < hold_back) return std::nullopt;
    } else {
        held_since_.reset();
    }
    ObserverChange line = state;
    if (!line.leader) {
        // The highest epoch seen may be one that nobody won, above that of the next leader.
        line.epoch = last_epoch_;
        line.advertised.clear();
    }
    return print(std::move(line));
}

std::optional<ObserverChange> WatchSequence::on_nobody_reachable(std::int64_t ts_ns) {
    return print({ts_ns, protocol::nobody, last_epoch_, {}, {}, {}});
}

std::optional<ObserverChange> WatchSequence::print(ObserverChange change) {
    if (printed_ && printed_->leader == change.leader && printed_->epoch == change.epoch &&
        printed_->advertised == change.advertised) {
        return std::nullopt;
    }
    if (change.leader) last_epoch_ = change.epoch;
    if (!printed_) change.gap = {};  // it has led before, nobody asks since when
    printed_ = std::move(change);
    return printed_;
}

}  // namespace bullring
