#include "sim/diagram/vector_clocks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bullring::sim::diagram {

namespace {

constexpr std::size_t not_done = static_cast<std::size_t>(-1);

class Clockwork {
public:
    Clockwork(const std::vector<TraceRecord>& records, const Matching& matching,
              const std::vector<std::size_t>& chosen, const std::vector<Place>& place_of,
              std::size_t places)
        : records_(records),
          matching_(matching),
          waiting_(places),
          next_(places, 0),
          now_(places, std::vector<std::uint32_t>(places, 0)) {
        for (const std::size_t record : chosen) {
            waiting_[place_of[record]].push_back(record);
            position_[record] = not_done;
        }
    }

    std::vector<ClockedEvent> run() {
        events_.reserve(position_.size());
        while (events_.size() < position_.size()) {
            bool moved = false;
            for (Place place = 0; place < waiting_.size(); ++place) {
                while (next_[place] < waiting_[place].size() && ready(place)) {
                    take(place);
                    moved = true;
                }
            }
            // Receipts that wait for each other in a circle can't have happened: the trace is
            // wrong. One of them then goes on without what it has received.
            if (!moved) take_any();
        }
        return std::move(events_);
    }

private:
    /// Where this receipt's sending stands among the events; null if that was not chosen.
    const std::size_t* sending_of(std::size_t record) const {
        if (records_[record].what != RecordKind::recv) return nullptr;
        if (matching_.partner[record] == no_record) return nullptr;
        const auto found = position_.find(matching_.partner[record]);
        return found == position_.end() ? nullptr : &found->second;
    }

    bool ready(Place place) const {
        const std::size_t* sending = sending_of(waiting_[place][next_[place]]);
        return sending == nullptr || *sending != not_done;
    }

    void take(Place place) {
        const std::size_t record = waiting_[place][next_[place]++];
        std::vector<std::uint32_t>& clock = now_[place];
        const std::size_t* sending = sending_of(record);
        if (sending != nullptr && *sending != not_done) {
            const std::vector<std::uint32_t>& known = events_[*sending].clock;
            for (Place i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], known[i]);
        }
        ++clock[place];
        position_[record] = events_.size();
        events_.push_back({record, place, clock});
    }

    void take_any() {
        for (Place place = 0; place < waiting_.size(); ++place) {
            if (next_[place] < waiting_[place].size()) return take(place);
        }
    }

    const std::vector<TraceRecord>& records_;
    const Matching& matching_;
    std::vector<std::vector<std::size_t>> waiting_;  // by place, in order
    std::vector<std::size_t> next_;                  // by place: the first that is not done
    std::vector<std::vector<std::uint32_t>> now_;    // by place
    std::map<std::size_t, std::size_t> position_;    // by record: its place in events_
    std::vector<ClockedEvent> events_;
};

}  // namespace

std::vector<ClockedEvent> vector_clocks(const std::vector<TraceRecord>& records,
                                        const Matching& matching,
                                        const std::vector<std::size_t>& chosen,
                                        const std::vector<Place>& place_of, std::size_t places) {
    return Clockwork(records, matching, chosen, place_of, places).run();
}

std::string clock_text(const std::vector<std::uint32_t>& clock,
                       const std::vector<std::string>& names) {
    std::string text;
    for (Place i = 0; i < clock.size(); ++i) {
        if (clock[i] == 0) continue;
        if (!text.empty()) text += ' ';
        text += names[i] + ':' + std::to_string(clock[i]);
    }
    return text;
}

}  // namespace bullring::sim::diagram
