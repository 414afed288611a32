#include "sim/explore/canonical_digest.hpp"

#include <algorithm>

namespace bullring::sim::explore {

using namespace protocol;

namespace {

/// Instants beyond are no readings of a clock but `long_ago` and `never`.
constexpr std::int64_t reading_max = INT64_MAX / 16;
constexpr std::uint64_t over = 0x6F76'6572'6F76'6572ULL;

}  // namespace

std::uint64_t CanonicalDigest::of(const WorldState& state) {
    now_ = state.now;
    used_ = 0;
    names_.clear();
    for (Family& family : families_) family.clear();
    word(state.faults_left);
    word(state.elected.value);
    for (const Host& host : state.hosts) add(host);
    word(state.sessions.size());
    for (const Session& session : state.sessions) add(session);
    put_ranks_for_names();
    return hash();
}

/// Apart from word(), which is called for every field and so has to be small enough to inline.
void CanonicalDigest::grow() { words_.resize(2 * used_ + 1024); }

void CanonicalDigest::add(const Host& host) {
    word(host.node ? 1 : 0);
    take_apart(host.disk, *this);
    if (!host.node) return;
    take_apart(*host.node, *this);
    take_apart(host.writing, *this);
    take_apart(host.published.epoch, *this);
    take_apart(host.published.deadline, *this);
    word(host.task.value);
    word((host.task_stopping ? 1U : 0U) | (host.paused ? 2U : 0U));
    word(host.dialled);
    word(static_cast<std::uint64_t>(std::max<RealTime>(host.wake_at - now_, 0)));
}

void CanonicalDigest::add(const Session& session) {
    take(session_id(session.name, true));
    word((session.dialler_open ? 1U : 0U) | (session.acceptor_open ? 2U : 0U) |
         (session.broken ? 4U : 0U));
    add(session.to_acceptor);
    add(session.to_dialler);
}

void CanonicalDigest::add(const std::vector<Flying>& flying) {
    word(flying.size());
    for (const Flying& one : flying) {
        const bool bounded = one.sent_at != no_time;
        word(bounded ? static_cast<std::uint64_t>(
                           std::min<RealTime>(now_ - one.sent_at, old_.flight.ns + 1))
                     : over);
        take_apart(*one.content, *this);
    }
}

void CanonicalDigest::reading(std::int64_t of_clock) {
    if (of_clock > reading_max) return word(static_cast<std::uint64_t>(never.boottime_ns));
    if (of_clock < -reading_max) return word(over);
    // Which clock it was read from stays in the upper bits.
    constexpr std::int64_t half = std::int64_t{1} << (clock_distance_bits - 1);
    const std::int64_t clock = (of_clock + half) >> clock_distance_bits;
    if (clock == 0) return word(static_cast<std::uint64_t>(of_clock));  // never read from any
    const std::int64_t distance = of_clock - now_;
    const std::int64_t ago = (clock << clock_distance_bits) - distance;
    word(ago >= old_.instant.ns ? over : static_cast<std::uint64_t>(distance));
}

void CanonicalDigest::take(const Heartbeat& heartbeat) {
    Heartbeat young = heartbeat;
    young.quorum_age = std::min(young.quorum_age, old_.instant);
    for_each_field(young, [this](const auto& field) { take_apart(field, *this); });
}

void CanonicalDigest::take(const SessionId& id) {
    if (!id) return word(0);
    const SessionName name = session_name(id);
    add_name({used_,
              static_cast<std::uint32_t>(name.dialler * small_world_nodes_max + name.acceptor),
              name.number, is_dialler_end(id)});
}

void CanonicalDigest::take(const Incarnation& run) {
    if (run == Incarnation{}) return word(0);
    add_name({used_, static_cast<std::uint32_t>(session_families + (run.value >> 32U) - 1),
              static_cast<std::uint32_t>(run.value), false});
}

void CanonicalDigest::add_name(const Name& name) {
    word(0);
    names_.push_back(name);
    Family& family = families_[name.family];
    if (!family.empty() && family.back() == name.number) return;
    const auto at = std::lower_bound(family.begin(), family.end(), name.number);
    if (at == family.end() || *at != name.number) family.insert(at, name.number);
}

void CanonicalDigest::put_ranks_for_names() {
    for (const Name& name : names_) {
        const Family& family = families_[name.family];
        const auto at = std::lower_bound(family.begin(), family.end(), name.number);
        const auto rank = static_cast<std::uint64_t>(at - family.begin()) + 1;
        words_[name.word] =
            std::uint64_t{name.family} << 32U | rank << 1U | (name.dialler_end ? 1U : 0U);
    }
}

/// Two lanes that do not wait for each other.
std::uint64_t CanonicalDigest::hash() const {
    std::uint64_t a = 0x2545'F491'4F6C'DD1DULL;
    std::uint64_t b = used_;
    for (std::size_t i = 0; i < used_; ++i) {
        const std::uint64_t word = words_[i];
        a = (a ^ word) * 0x9E37'79B9'7F4A'7C15ULL;
        a ^= a >> 29U;
        b = (b + word) * 0xBF58'476D'1CE4'E5B9ULL;
        b ^= b >> 32U;
    }
    std::uint64_t z = a ^ (b << 23U | b >> 41U);
    z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31U);
}

}  // namespace bullring::sim::explore
