#include "sim/explore/canonical_digest.hpp"

#include <algorithm>

namespace bullring::sim::explore {

using namespace protocol;

namespace {

/// Instants beyond are no readings of a clock but `long_ago` and `never`.
constexpr std::int64_t reading_max = INT64_MAX / 16;
constexpr std::uint64_t over = 0x6F76'6572'6F76'6572ULL;

}  // namespace

std::uint64_t CanonicalDigest::of(const SmallWorld& small) {
    world_ = &small.world;
    used_ = 0;
    names_.clear();
    families_.resize(world_->hosts() * (world_->hosts() + 1));
    for (Family& family : families_) family.clear();
    word(small.faults_left);
    word(small.checks.newest_epoch().value);
    for (HostIndex h = 0; h < world_->members(); ++h) add(world_->host(h));
    add_connections();
    put_ranks_for_names();
    return hash();
}

/// Apart from word(), which is called for every field and so has to be small enough to inline.
void CanonicalDigest::grow() { words_.resize(2 * used_ + 1024); }

void CanonicalDigest::add(const Host& host) {
    word(host.running() ? 1 : 0);
    take_apart(host.disk.file, *this);
    if (!host.running()) return;
    take_apart(*host.node, *this);
    take_apart(host.writing, *this);
    take_apart(host.published.epoch, *this);
    take_apart(host.published.deadline, *this);
    word(host.task.running ? host.task.epoch.value : 0);
    word((host.task.asked_to_end ? 1U : 0U) | (host.paused ? 2U : 0U));
    for (const Dialling& dialling : host.dialling) take(dialling.session);
    word(static_cast<std::uint64_t>(std::max<Time>(host.wake_at - world_->now(), 0)));
}

/// Those that somebody still has; the others live on in nodes alone.
void CanonicalDigest::add_connections() {
    connections_.clear();
    for (std::size_t i = 0; i < world_->connections().size(); ++i) {
        const Connection& c = world_->connections()[i];
        if (c.ends[dialler_side].open || c.ends[acceptor_side].open)
            connections_.emplace_back(family(i), i);
    }
    std::sort(connections_.begin(), connections_.end());
    word(connections_.size());
    for (const auto& [of, i] : connections_) {
        const Connection& c = world_->connections()[i];
        take(World::dialler_end(i));
        word(c.forgotten ? 1 : 0);
        for (const Side side : {dialler_side, acceptor_side}) {
            const End& end = c.ends[side];
            word((end.open ? 1U : 0U) | (end.told ? 2U : 0U));
            word(end.breaking ? static_cast<std::uint64_t>(*end.breaking) + 1 : 0);
            add_incoming(c, side);
        }
    }
}

void CanonicalDigest::add_incoming(const Connection& connection, Side reader) {
    const End& end = connection.ends[reader];
    const Pipe& pipe = connection.ends[other(reader)].outgoing;
    const bool read = end.open && !end.told && !connection.forgotten;
    word(read ? pipe.size() : 0);
    if (!read) return;
    for (std::size_t i = 0; i < pipe.size(); ++i) {
        word(static_cast<std::uint64_t>(std::max<Time>(pipe[i].arrival - world_->now(), -1)));
        take_apart(pipe[i].message, *this);
    }
}

std::size_t CanonicalDigest::family(std::size_t connection) const {
    const Connection& c = world_->connections()[connection];
    return c.ends[dialler_side].host * world_->hosts() + c.ends[acceptor_side].host;
}

void CanonicalDigest::reading(std::int64_t of_clock) {
    if (of_clock > reading_max) return word(static_cast<std::uint64_t>(never.boottime_ns));
    if (of_clock < -reading_max) return word(over);
    // Which clock it was read from stays in the upper bits.
    constexpr std::int64_t half = std::int64_t{1} << (clock_distance_bits - 1);
    const std::int64_t clock = (of_clock + half) >> clock_distance_bits;
    if (clock == 0) return word(static_cast<std::uint64_t>(of_clock));  // never read from any
    const std::int64_t distance = of_clock - world_->now();
    const std::int64_t ago = (clock << clock_distance_bits) - distance;
    word(ago >= old_.ns ? over : static_cast<std::uint64_t>(distance));
}

void CanonicalDigest::take(const Heartbeat& heartbeat) {
    Heartbeat young = heartbeat;
    young.quorum_age = std::min(young.quorum_age, old_);
    for_each_field(young, [this](const auto& field) { take_apart(field, *this); });
}

void CanonicalDigest::take(const SessionId& id) {
    if (!id) return word(0);
    const std::size_t connection = id.value / 2 - 1;
    add_name({used_, static_cast<std::uint32_t>(family(connection)),
              static_cast<std::uint32_t>(connection), World::side_of(id) == dialler_side});
}

void CanonicalDigest::take(const Incarnation& run) {
    if (run == Incarnation{}) return word(0);
    const std::size_t runs_of = world_->hosts() * world_->hosts() + (run.value >> 32U) - 1;
    add_name(
        {used_, static_cast<std::uint32_t>(runs_of), static_cast<std::uint32_t>(run.value), false});
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
