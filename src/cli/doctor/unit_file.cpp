#include "src/cli/doctor/unit_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "src/base/text/text.hpp"

namespace bullring::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".service";

/// Where systemd looks, the most important first: systemd.unit(5).
const std::array<std::string, 5> places{"/etc/systemd/system", "/run/systemd/system",
                                        "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
                                        "/lib/systemd/system"};

std::optional<fs::path> first_of(const std::vector<std::string>& names,
                                 const std::vector<std::string>& folders) {
    std::error_code ignored;
    for (const std::string& name : names)
        for (const std::string& folder : folders)
            if (fs::path path = fs::path(folder) / name; fs::exists(path, ignored)) return path;
    return std::nullopt;
}

/// By their own names, one of each: the most important.
std::map<std::string, fs::path> drop_ins(const std::vector<std::string>& names,
                                         const std::vector<std::string>& folders) {
    std::map<std::string, fs::path> found;
    for (const std::string& name : names)
        for (const std::string& folder : folders) {
            std::error_code ignored;
            for (const auto& file :
                 fs::directory_iterator(fs::path(folder) / (name + ".d"), ignored))
                if (file.path().extension() == ".conf")
                    found.emplace(file.path().filename(), file.path());
        }
    return found;
}

}  // namespace

tl::expected<UnitFile, std::string> UnitFile::read(const std::string& name) {
    const fs::path path(name);
    UnitFile unit;
    unit.name_ = path.filename();
    if (!unit.name_.ends_with(suffix)) unit.name_ += suffix;
    const std::string bare = unit.name_.substr(0, unit.name_.size() - suffix.size());
    const std::size_t at = bare.find('@');
    if (at != std::string::npos && at == bare.size() - 1)
        return tl::unexpected("is a template; expected a unit of it, like " + bare + "NAME");
    std::vector<std::string> names{unit.name_};
    if (at != std::string::npos) {
        unit.instance_ = bare.substr(at + 1);
        names.push_back(bare.substr(0, at + 1) + std::string(suffix));
    }
    std::vector<std::string> folders(places.begin(), places.end());
    if (path.has_parent_path()) folders = {path.parent_path()};
    const auto file = first_of(names, folders);
    if (!file)
        return tl::unexpected<std::string>(
            "is no unit of this machine; expected a name like "
            "bullring@NAME, or the path of its file");
    if (std::error_code ignored; fs::canonical(*file, ignored) == "/dev/null")
        return tl::unexpected("is masked (systemctl unmask " + bare + ")");
    names.push_back("service");
    std::vector<fs::path> files{*file};
    for (const auto& [own, drop_in] : drop_ins(names, folders)) files.push_back(drop_in);
    for (const fs::path& one : files) {
        const auto text = read_text_file(one);
        if (!text) return tl::unexpected("cannot be judged: " + text.error().why);
        unit.take(one, *text);
    }
    return unit;
}

void UnitFile::take(const std::string& path, const std::string& text) {
    files_.push_back(path);
    std::istringstream lines(text);
    std::string section;
    std::string whole;
    for (std::string line; std::getline(lines, line);) {
        const std::string_view part = trimmed(line);
        if (part.empty() || part.front() == '#' || part.front() == ';') continue;
        whole += part;
        if (whole.back() == '\\') {
            whole.back() = ' ';
            continue;
        }
        const std::string said = std::exchange(whole, {});
        const std::size_t equals = said.find('=');
        if (said.front() == '[') section = said;
        if (section != "[Service]" || equals == std::string::npos) continue;
        auto& values = settings_[std::string(trimmed(said.substr(0, equals)))];
        const std::string value(trimmed(std::string_view(said).substr(equals + 1)));
        if (value.empty())
            values.clear();
        else
            values.push_back(expanded(value));
    }
}

/// Those that name places and instances; others stay as they are.
std::string UnitFile::expanded(std::string_view text) const {
    const std::string bare = name_.substr(0, name_.size() - suffix.size());
    const std::map<char, std::string> known{
        {'i', instance_},    {'n', name_},
        {'N', bare},         {'p', bare.substr(0, bare.find('@'))},
        {'S', "/var/lib"},   {'L', "/var/log"},
        {'C', "/var/cache"}, {'t', "/run"},
        {'E', "/etc"},       {'T', "/tmp"},
        {'V', "/var/tmp"},   {'%', "%"}};
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto found =
            text[i] == '%' && i + 1 < text.size() ? known.find(text[i + 1]) : known.end();
        if (found == known.end()) {
            all += text[i];
        } else {
            all += found->second;
            ++i;
        }
    }
    return all;
}

const std::vector<std::string>& UnitFile::values(std::string_view key) const {
    static const std::vector<std::string> none;
    const auto found = settings_.find(key);
    return found == settings_.end() ? none : found->second;
}

std::string UnitFile::value(std::string_view key) const {
    const auto& all = values(key);
    return all.empty() ? std::string() : all.back();
}

bool UnitFile::is_on(std::string_view key) const {
    return boolean_named(value(key)).value_or(false);
}

std::vector<std::string> UnitFile::words(std::string_view key) const {
    std::vector<std::string> all;
    for (const std::string& one : values(key))
        for (std::string& word : unit_words(one)) all.push_back(std::move(word));
    return all;
}

bool UnitFile::lists(std::string_view key, std::string_view word, bool otherwise) const {
    bool listed = otherwise;
    bool first = true;
    for (const std::string& line : values(key)) {
        const bool without = line.starts_with('~');
        const auto words = unit_words(std::string_view(line).substr(without ? 1 : 0));
        const bool named = std::find(words.begin(), words.end(), word) != words.end();
        if (std::exchange(first, false))
            listed = named != without;
        else if (named)
            listed = !without;
    }
    return listed;
}

std::vector<std::string> unit_words(std::string_view text) {
    std::vector<std::string> words;
    bool within = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            within = false;
            continue;
        }
        if (!std::exchange(within, true)) words.emplace_back();
        if (quote == 0 && (c == '"' || c == '\''))
            quote = c;
        else if (quote == c)
            quote = 0;
        else if (c == '\\' && i + 1 < text.size())
            words.back() += text[++i];
        else
            words.back() += c;
    }
    return words;
}

std::vector<std::string> command_words(std::string_view text, const Environment& variables) {
    const auto valued = [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    };
    std::vector<std::string> all;
    for (std::string& word : unit_words(text)) {
        if (word.size() > 1 && word[0] == '$' && word[1] != '{' && word[1] != '$') {
            for (std::string& one : unit_words(valued(word.substr(1))))
                all.push_back(std::move(one));
            continue;
        }
        std::string whole;
        while (true) {
            const std::size_t dollar = word.find('$');
            whole += word.substr(0, dollar);
            if (dollar == std::string::npos) break;
            const std::size_t end = word.find('}', dollar);
            if (word.compare(dollar, 2, "${") == 0 && end != std::string::npos) {
                whole += valued(word.substr(dollar + 2, end - dollar - 2));
                word.erase(0, end + 1);
            } else {
                whole += '$';
                word.erase(0, dollar + (word.compare(dollar, 2, "$$") == 0 ? 2 : 1));
            }
        }
        all.push_back(std::move(whole));
    }
    return all;
}

Environment read_variables(std::string_view text) {
    Environment variables;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        const std::string_view said = trimmed(line);
        const std::size_t equals = said.find('=');
        if (said.empty() || said.front() == '#' || said.front() == ';' ||
            equals == std::string_view::npos)
            continue;
        std::string_view value = trimmed(said.substr(equals + 1));
        const bool quoted = value.size() > 1 && value.front() == value.back() &&
                            (value.front() == '"' || value.front() == '\'');
        if (quoted) value = value.substr(1, value.size() - 2);
        variables[std::string(trimmed(said.substr(0, equals)))] = value;
    }
    return variables;
}

}  // namespace bullring::doctor
