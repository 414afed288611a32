#include "tests/support/text_cases.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>

namespace bullring::test {

bool rewrite_text_cases = false;

CommandWords::CommandWords(const std::string& line) {
    std::istringstream in(line);
    for (std::string word; in >> word;) words_.push_back(word);
}

std::string CommandWords::next() {
    if (empty()) throw std::runtime_error("one more word is needed");
    return words_[at_++];
}

std::int64_t CommandWords::number() {
    const std::string word = next();
    std::size_t end = 0;
    const std::int64_t value = std::stoll(word, &end);
    if (end != word.size()) throw std::runtime_error(word + ": a number is needed");
    return value;
}

bool CommandWords::take(const std::string& word) {
    if (empty() || words_[at_] != word) return false;
    ++at_;
    return true;
}

void play_text_cases(const std::string& file, const Answer& answer) {
    const std::string path = BULLRING_PROTOCOL_SOURCES "/" + file;
    std::ifstream in(path);
    REQUIRE_MESSAGE(in, path);
    std::ostringstream found;
    int number = 0;
    int commands = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const std::size_t arrow = line.find(" -> ");
        const std::string command = line.substr(0, arrow);
        if (command.empty() || command.front() == '#') {
            found << line << '\n';
            continue;
        }
        ++commands;
        INFO(file << ":" << number << ": " << command);
        CommandWords words(command);
        const std::string expected = arrow == std::string::npos ? "" : line.substr(arrow + 4);
        const std::string actual = answer(words);
        found << command << (actual.empty() ? "" : " -> " + actual) << '\n';
        CHECK_MESSAGE(words.empty(), "words that nobody has read");
        if (!rewrite_text_cases) CHECK(actual == expected);
    }
    CHECK(commands > 0);
    if (rewrite_text_cases) std::ofstream(path) << found.str();
}

}  // namespace bullring::test
