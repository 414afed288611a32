// How times, epochs and lists of nodes are written in a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bullring::protocol::diagram {

/// "380 µs", "1.03 ms", "478 ms", "1.25 s": three digits, in a unit that people like.
std::string rounded_duration(std::int64_t ns);

/// "1, 2, 5".
std::string list_text(const std::vector<std::uint64_t>& items);

/// Epochs seeded by a clock have sixteen digits, of which a picture needs the last few.
class EpochNames {
public:
    EpochNames() = default;
    explicit EpochNames(const std::vector<std::uint64_t>& epochs);
    /// "17" or "…5124".
    std::string name(std::uint64_t epoch) const;

private:
    std::uint64_t modulus_ = 0;  // 0: in full
    int digits_ = 0;
};

}  // namespace bullring::protocol::diagram
