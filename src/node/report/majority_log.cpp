#include "src/node/report/majority_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "protocol/tenure/standing.hpp"
#include "src/base/log/logging.hpp"

namespace bullring {

using protocol::Instant;
using protocol::Parts;

namespace {

struct Voters {
    std::size_t heard = 0;  // itself included
    std::size_t needed = 0;
    std::size_t all = 0;
    std::string missing;
};

Voters voters_of(Instant now, const Parts& node) {
    const protocol::Membership& list = node.list().empty() ? node.config().members : node.list();
    const protocol::MemberSet connected = node.peers.connected(now);
    Voters voters;
    voters.needed = list.majority();
    for (const protocol::MemberEntry& entry : list.entries()) {
        if (!entry.votes) continue;
        ++voters.all;
        const auto index = node.setup.members().index(entry.id);
        if (index && (*index == node.me() || connected.contains(*index)))
            ++voters.heard;
        else
            voters.missing += (voters.missing.empty() ? "" : ", ") + std::to_string(entry.id.value);
    }
    return voters;
}

}  // namespace

std::optional<MajorityLog::News> MajorityLog::news(Instant now, const Parts& node) {
    if (!node.fenced() || node.removed()) return std::nullopt;
    if (quorum_connected(node, now)) {
        known_ = true;
        const Instant since = std::exchange(since_, protocol::never);
        if (!std::exchange(told_, false)) return std::nullopt;
        const Voters voters = voters_of(now, node);
        const protocol::Duration gone = protocol::elapsed(since, now) / 1'000'000 * 1'000'000;
        return News{false, fmt::format("a majority again, after {} without: hears {} of {} voters",
                                       protocol::to_text(gone), voters.heard, voters.all)};
    }
    if (!known_) return std::nullopt;
    if (since_ == protocol::never) since_ = now;
    if (told_ || !due(now, since_ + node.timing().suspect_after)) return std::nullopt;
    told_ = true;
    const Voters voters = voters_of(now, node);
    return News{true, fmt::format("no majority any more: hears {} of {} voters, and not {}; nobody "
                                  "is elected from here until it hears {}",
                                  voters.heard, voters.all, voters.missing, voters.needed)};
}

bool MajorityLog::note(Instant now, const Parts& node) {
    if (auto what = news(now, node)) untold_.push_back(std::move(*what));
    return !untold_.empty();
}

void MajorityLog::tell() {
    for (const News& what : std::exchange(untold_, {})) {
        // Of a loss that comes again and again, and is left out, the end is left out, too.
        if (what.lost)
            said_ = log_limited(LogLevel::warn, "majority", {}, what.text);
        else if (std::exchange(said_, false))
            log(LogLevel::info, what.text);
    }
}

}  // namespace bullring
