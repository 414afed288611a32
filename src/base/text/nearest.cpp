#include "src/base/text/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bullring {

namespace {

/// Levenshtein's distance; the words are short.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

std::size_t wrong_letters_max(std::string_view one, std::string_view other) {
    constexpr std::size_t long_word = 5;
    return std::min(one.size(), other.size()) >= long_word ? 2 : 1;
}

}  // namespace

std::string_view nearest(std::string_view wrong, std::span<const std::string_view> known) {
    constexpr std::size_t word_bytes_max = 32;
    if (wrong.size() > word_bytes_max) return {};
    std::string_view found;
    std::size_t least = wrong.size();
    for (const std::string_view word : known) {
        const std::size_t apart = distance(wrong, word);
        if (apart >= least || apart > wrong_letters_max(wrong, word)) continue;
        least = apart;
        found = word;
    }
    return found;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known) {
    const std::string_view word = nearest(wrong, known);
    return word.empty() ? "" : " did you mean " + std::string(word) + "?";
}

}  // namespace bullring
