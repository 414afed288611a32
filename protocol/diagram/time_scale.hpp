// Where an instant stands on the paper. Time runs evenly from left to right, but a stretch in which
// nothing happens may be folded: an election takes a millisecond and the silence before it half a
// second, and both must be seen. Also the ticks of the axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bullring::protocol::diagram {

enum class ScaleMode : std::uint8_t {
    automatic,  // folds only when the messages would be too steep to be read
    linear,
};

const char* name(ScaleMode mode);

struct ScaleWish {
    std::int64_t from = 0;
    std::int64_t to = 0;
    double left = 0;  // pixels
    double right = 0;
    ScaleMode mode = ScaleMode::automatic;
    std::vector<std::int64_t> instants;  // at which something happens, in any order
    std::vector<std::int64_t> marks;     // that must be seen, but may stand in a fold
    std::vector<std::int64_t> flights;   // how long messages take that are to be read
};

struct Stretch {
    std::int64_t from = 0;
    std::int64_t to = 0;
    double left = 0;
    double right = 0;
    bool folded = false;
};

struct Tick {
    double x = 0;
    std::string text;
};

class TimeScale {
public:
    explicit TimeScale(ScaleWish wish);

    /// Beyond the ends it goes on as at the end.
    double x(std::int64_t at) const;
    const std::vector<Stretch>& stretches() const { return stretches_; }
    bool folded() const;
    /// In milliseconds or seconds from `zero`; none in folds.
    std::vector<Tick> ticks(std::int64_t zero) const;
    /// "ms" or "s".
    const char* unit(std::int64_t zero) const;

private:
    void lay_out(const ScaleWish& wish);

    std::vector<Stretch> stretches_;
};

}  // namespace bullring::protocol::diagram
