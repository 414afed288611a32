#include "src/task/supervisor/guard_settings.hpp"

#include <charconv>

namespace bullring {

namespace {

constexpr std::size_t words_before_command = 16;

constexpr const char* json_word = "json";
constexpr const char* ignores_word = "ignores-hangup";

template <class Number>
bool read_number(const std::string& word, Number& number) {
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, number);
    return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

std::vector<std::string> guard_words(const GuardSettings& settings) {
    std::vector<std::string> words{guard_word,
                                   std::to_string(settings.socket),
                                   std::to_string(settings.page),
                                   std::to_string(settings.terminal_group),
                                   std::to_string(settings.kill_after.ns),
                                   std::to_string(settings.margin.ns),
                                   std::to_string(settings.kill_safety.ns),
                                   settings.id,
                                   settings.cluster,
                                   settings.progress_file,
                                   settings.log_format == LogFormat::json ? json_word : "",
                                   settings.ignores_hangup ? ignores_word : "",
                                   std::to_string(settings.descriptor_limit),
                                   std::to_string(settings.node_pause.ns),
                                   settings.events_file,
                                   settings.device};
    words.insert(words.end(), settings.command.begin(), settings.command.end());
    return words;
}

tl::expected<GuardSettings, std::string> guard_settings(const std::vector<std::string>& words) {
    GuardSettings settings;
    if (words.size() <= words_before_command || words[0] != guard_word ||
        !read_number(words[1], settings.socket) || !read_number(words[2], settings.page) ||
        !read_number(words[3], settings.terminal_group) ||
        !read_number(words[4], settings.kill_after.ns) ||
        !read_number(words[5], settings.margin.ns) ||
        !read_number(words[6], settings.kill_safety.ns) ||
        !read_number(words[12], settings.descriptor_limit) ||
        !read_number(words[13], settings.node_pause.ns))
        return tl::unexpected(
            std::string("a guard is started by bullring run and bullring lead alone"));
    settings.id = words[7];
    settings.cluster = words[8];
    settings.progress_file = words[9];
    settings.log_format = words[10] == json_word ? LogFormat::json : LogFormat::text;
    settings.ignores_hangup = words[11] == ignores_word;
    settings.events_file = words[14];
    settings.device = words[15];
    settings.command.assign(words.begin() + words_before_command, words.end());
    return settings;
}

}  // namespace bullring
