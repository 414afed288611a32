// Tests as text (protocol/*/testdata/*.txt): a line is a command, and behind `->` stands what it
// has to answer; # begins a comment. They are read beside the clauses that they are named after. A
// changed rule is seen in the difference of `bullring_unit_tests --rewrite`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bullring::test {

/// The words of one command.
class CommandWords {
public:
    explicit CommandWords(const std::string& line);

    bool empty() const { return at_ == words_.size(); }
    /// The next one. Throws std::runtime_error if there is none.
    std::string next();
    std::int64_t number();
    /// A number that counts or names something, such as an epoch.
    template <class Id>
    Id id() {
        return {static_cast<std::uint64_t>(number())};
    }
    /// Takes the next word if it is this one.
    bool take(const std::string& word);

private:
    std::vector<std::string> words_;
    std::size_t at_ = 0;
};

/// The answer to a command; empty: it has none. Throws std::runtime_error for what it does not
/// understand.
using Answer = std::function<std::string(CommandWords&)>;

/// Plays a file below protocol/, and checks each answer of it.
void play_text_cases(const std::string& file, const Answer& answer);

extern bool rewrite_text_cases;

}  // namespace bullring::test
