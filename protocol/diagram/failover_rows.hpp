// One node's records of a change of leader as rows, from the top of a picture to its bottom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/diagram/failover.hpp"
#include "protocol/diagram/model.hpp"

namespace bullring::protocol::diagram {

enum class RowKind : std::uint8_t {
    sent,      // one message to each of the peers, at the same instant
    received,  // a message of the one peer
    mark,      // what happened to the node
    wait,      // nothing
    left_out,  // too much
};

struct Row {
    RowKind kind = RowKind::wait;
    std::int64_t at = 0;
    std::vector<std::uint64_t> peers;  // of a message; of a mark: whom it is about, if anybody
    Look look = Look::other;           // of a message
    MarkShape shape = MarkShape::other;
    std::string text;
    std::string tip;
};

/// A time in which the node took somebody to be the leader.
struct Reign {
    std::uint64_t leader = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
};

/// From a peer that was lost to its return.
struct Loss {
    std::uint64_t peer = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
};

struct FailoverRows {
    std::vector<Row> rows;  // in order of time
    std::vector<Reign> reigns;
    std::vector<Loss> losses;
    std::vector<RoleBar> roles;
    std::vector<std::uint64_t> peers;  // who appears, ascending
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

FailoverRows failover_rows(const std::vector<TraceRecord>& records, const FailoverStory& story);

}  // namespace bullring::protocol::diagram
