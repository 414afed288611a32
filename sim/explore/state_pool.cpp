#include "sim/explore/state_pool.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/digest.hpp"

namespace bullring::sim::explore {

namespace {

std::uint64_t digest_of(const Host& host) {
    protocol::Digest digest;
    digest.add(host.node != nullptr);
    if (host.node) digest.add(*host.node);
    digest.add(host.disk);
    digest.add(host.writing);
    digest.add(host.published.epoch);
    digest.add(host.published.deadline);
    digest.add(host.task);
    digest.add(host.task_stopping);
    digest.add(host.paused);
    digest.add(host.dialled);
    digest.add(host.runs);
    digest.add(host.wake_at);
    for (const std::uint16_t dials : host.dials) digest.add(dials);
    return digest.value();
}

void add(protocol::Digest& digest, const std::vector<Flying>& flying) {
    digest.add(flying.size());
    for (const Flying& one : flying) {
        digest.add(one.sent_at);
        digest.add(*one.content);
    }
}

std::uint64_t digest_of(const Session& session) {
    protocol::Digest digest;
    digest.add(session_id(session.name, true));
    digest.add(session.dialler_open);
    digest.add(session.acceptor_open);
    digest.add(session.broken);
    add(digest, session.to_acceptor);
    add(digest, session.to_dialler);
    return digest.value();
}

bool same(const Host& a, const Host& b) {
    const bool same_node = a.node == b.node || (a.node && b.node && *a.node == *b.node);
    return same_node && a.disk == b.disk && a.writing == b.writing && a.published == b.published &&
           a.task == b.task && a.task_stopping == b.task_stopping && a.paused == b.paused &&
           a.dialled == b.dialled && a.runs == b.runs && a.wake_at == b.wake_at &&
           a.dials == b.dials;
}

bool same(const std::vector<Flying>& a, const std::vector<Flying>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Flying& one, const Flying& other) {
                          return one.sent_at == other.sent_at &&
                                 (one.content == other.content || *one.content == *other.content);
                      });
}

bool same(const Session& a, const Session& b) {
    return a.name == b.name && a.dialler_open == b.dialler_open &&
           a.acceptor_open == b.acceptor_open && a.broken == b.broken &&
           same(a.to_acceptor, b.to_acceptor) && same(a.to_dialler, b.to_dialler);
}

/// The part that was kept before if it is the same; of two with one digest the first stays.
template <class Part, class Parts>
void share_part(std::shared_ptr<const Part>& part, Parts& kept, std::uint64_t digest) {
    const auto [found, is_new] = kept.emplace(digest, part);
    if (!is_new && same(*found->second, *part)) part = found->second;
}

}  // namespace

void PackedState::unpack(WorldState& to) const {
    to.now = now;
    to.faults_left = faults_left;
    to.elected = elected;
    to.hosts.resize(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) to.hosts[i] = *hosts[i];
    to.sessions.resize(sessions.size());
    for (std::size_t i = 0; i < sessions.size(); ++i) to.sessions[i] = *sessions[i];
}

PackedState pack(const WorldState& state, const PackedState& before, OwnParts& own) {
    PackedState packed;
    packed.now = state.now;
    packed.faults_left = state.faults_left;
    packed.elected = state.elected;
    packed.hosts.reserve(state.hosts.size());
    for (std::size_t i = 0; i < state.hosts.size(); ++i) {
        const Host& host = state.hosts[i];
        if (host.node == before.hosts[i]->node && same(host, *before.hosts[i])) {
            packed.hosts.push_back(before.hosts[i]);
            continue;
        }
        own.hosts.push_back({i, digest_of(host)});
        packed.hosts.push_back(std::make_shared<const Host>(host));
    }
    packed.sessions.reserve(state.sessions.size());
    auto old = before.sessions.begin();
    for (const Session& session : state.sessions) {
        // Both are in the same order.
        const auto key = session_id(session.name, true);
        while (old != before.sessions.end() && session_id((*old)->name, true) < key) ++old;
        if (old != before.sessions.end() && same(session, **old)) {
            packed.sessions.push_back(*old);
            continue;
        }
        own.sessions.push_back({packed.sessions.size(), digest_of(session)});
        packed.sessions.push_back(std::make_shared<const Session>(session));
    }
    return packed;
}

void StatePool::share(PackedState& state, const OwnParts& own) {
    for (const OwnParts::Part& part : own.hosts)
        share_part(state.hosts[part.at], hosts_, part.digest);
    for (const OwnParts::Part& part : own.sessions)
        share_part(state.sessions[part.at], sessions_, part.digest);
}

void StatePool::sweep() {
    const auto unused = [](const auto& part) { return part.second.use_count() == 1; };
    std::erase_if(hosts_, unused);
    std::erase_if(sessions_, unused);
}

}  // namespace bullring::sim::explore
