#include "sim/diagram/matching.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace bullring::sim::diagram {

namespace {

/// The dialler, its incarnation, its number for the session, whether towards the acceptor.
using StreamKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool>;

struct Stream {
    std::map<std::uint64_t, std::size_t> sent;  // by index
    std::map<std::uint64_t, std::size_t> received;
};

StreamKey stream_of(const TraceRecord& record) {
    // The acceptor answers the HELLO and then says nothing more on that session.
    const bool by_acceptor = record.kind == "HELLO_ACK" || record.kind == "REFUSED";
    const bool here_is_dialler = (record.what == RecordKind::send) != by_acceptor;
    if (here_is_dialler) return {record.node, record.incarnation, record.session, !by_acceptor};
    return {record.peer, record.peer_incarnation, record.session, !by_acceptor};
}

bool may_be_replaced(const TraceRecord& record) {
    return record.kind == "HB" || record.kind == "COORDINATOR";
}

void match_stream(const std::vector<TraceRecord>& records, const Stream& stream, Matching& result) {
    std::uint64_t ahead = 0;  // how many sendings have been replaced so far
    for (const auto& [index, receipt] : stream.received) {
        std::uint64_t try_ahead = ahead;
        std::vector<std::size_t> replaced;
        while (true) {
            const auto sent = stream.sent.find(index + try_ahead);
            if (sent == stream.sent.end()) break;
            if (records[sent->second].body == records[receipt].body) {
                result.partner[receipt] = sent->second;
                result.partner[sent->second] = receipt;
                for (const std::size_t one : replaced) result.superseded[one] = true;
                ahead = try_ahead;
                break;
            }
            if (!may_be_replaced(records[sent->second])) break;
            replaced.push_back(sent->second);
            ++try_ahead;
        }
    }
}

}  // namespace

Matching match(const std::vector<TraceRecord>& records) {
    Matching result;
    result.partner.assign(records.size(), no_record);
    result.superseded.assign(records.size(), false);
    std::map<StreamKey, Stream> streams;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const TraceRecord& record = records[i];
        if (record.what == RecordKind::event) continue;
        Stream& stream = streams[stream_of(record)];
        auto& side = record.what == RecordKind::send ? stream.sent : stream.received;
        side.emplace(record.index, i);
    }
    for (const auto& [key, stream] : streams) match_stream(records, stream, result);
    return result;
}

}  // namespace bullring::sim::diagram
