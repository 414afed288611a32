#include "src/manual/plain_text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bullring {

namespace {

using Row = std::vector<std::string>;

constexpr std::string_view indent = "    ";
constexpr std::string_view gap = "  ";
constexpr std::size_t narrowest = 4;

/// What it takes on a terminal; the manual has no wide or combining characters.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(std::string text, std::size_t to) {
    text.append(to - std::min(to, width(text)), ' ');
    return text;
}

/// Text with code, emphasis and links in it. Code is left alone: it may hold what looks like marks.
std::string without_marks(std::string_view text) {
    std::string plain;
    bool code = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const std::string_view rest = text.substr(i + 1);
        if (c == '`') {
            code = !code;
        } else if (code) {
            plain += c;
        } else if (c == '\\' && !rest.empty()) {
            plain += rest.front();
            ++i;
        } else if (c == '*') {
            const bool apart = (plain.empty() || plain.back() == ' ') && rest.starts_with(' ');
            if (apart) plain += c;
        } else if (c == '[') {
            const std::size_t middle = rest.find("](");
            const std::size_t end = rest.find(')', middle);
            if (middle == std::string_view::npos || end == std::string_view::npos ||
                rest.substr(0, middle).find_first_of("[]") != std::string_view::npos) {
                plain += c;
                continue;
            }
            if (plain.ends_with('!')) plain.pop_back();  // a picture: its description
            plain += without_marks(rest.substr(0, middle));
            i += end + 1;
        } else {
            plain += c;
        }
    }
    return plain;
}

std::string_view trimmed_cell(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The cells of "| a | b |"; "\|" is no border.
Row cells_of(std::string_view line) {
    Row cells;
    std::string cell;
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '\\' && line.substr(i + 1).starts_with('|')) {
            cell += line[++i];
        } else if (line[i] == '|') {
            cells.push_back(without_marks(trimmed_cell(cell)));
            cell.clear();
        } else {
            cell += line[i];
        }
    }
    return cells;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
    std::vector<std::string> lines(1);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (!lines.back().empty() && width(lines.back()) + 1 + width(word) > columns)
            lines.emplace_back();
        if (!lines.back().empty()) lines.back() += ' ';
        lines.back() += word;
        begin = end + 1;
    }
    return lines;
}

std::vector<std::size_t> widths_of(const std::vector<Row>& rows, std::size_t columns) {
    std::vector<std::size_t> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    const std::size_t gaps = widths.empty() ? 0 : gap.size() * (widths.size() - 1);
    while (std::accumulate(widths.begin(), widths.end(), gaps) > columns) {
        auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= narrowest) break;
        --*widest;
    }
    return widths;
}

void add_row(std::string& plain, const Row& row, const std::vector<std::size_t>& widths) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        cells.push_back(wrapped(row[i], widths[i]));
        height = std::max(height, cells.back().size());
    }
    for (std::size_t k = 0; k < height; ++k) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line += padded(k < cells[i].size() ? cells[i][k] : std::string(), widths[i]);
            line += gap;
        }
        plain += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
}

/// A head of empty cells, which Markdown cannot do without, is left out.
void add_table(std::string& plain, const std::vector<std::string_view>& lines,
               std::size_t columns) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i != 1) rows.push_back(cells_of(lines[i]));
    }
    const bool has_head = std::any_of(rows.front().begin(), rows.front().end(),
                                      [](const std::string& cell) { return !cell.empty(); });
    if (!has_head) rows.erase(rows.begin());
    const std::vector<std::size_t> widths = widths_of(rows, columns);
    for (const Row& row : rows) {
        add_row(plain, row, widths);
        if (!has_head || &row != &rows.front()) continue;
        const std::size_t gaps = gap.size() * (widths.size() - 1);
        plain.append(std::accumulate(widths.begin(), widths.end(), gaps), '-');
        plain += '\n';
    }
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Reads line by line; what belongs together (a paragraph, a table, a block of code) is added when
/// its last line has been read, since a link or an emphasis may go over the end of a line.
class Writer {
public:
    explicit Writer(std::size_t columns) : columns_(columns) {}

    void add(std::string_view line) {
        if (line.starts_with("```")) {
            finish();
            in_code_ = !in_code_;
        } else if (in_code_) {
            plain_ += line.empty() ? "\n" : std::string(indent) + std::string(line) + '\n';
        } else if (line.starts_with('|')) {
            table_.push_back(line);
        } else if (line.empty()) {
            finish();
            if (!plain_.empty() && !plain_.ends_with("\n\n")) plain_ += '\n';
        } else if (line.starts_with('#')) {
            finish();
            const std::size_t text = std::min(line.find_first_not_of("# "), line.size());
            plain_ += without_marks(line.substr(text)) + '\n';
        } else if (line.starts_with(":   ")) {
            finish();
            paragraph_ = std::string(indent) + std::string(line.substr(indent.size())) + '\n';
        } else if (!line.starts_with("<!--")) {
            paragraph_ += std::string(line) + '\n';
        }
    }
    std::string take() {
        finish();
        while (plain_.ends_with("\n\n")) plain_.pop_back();
        return std::move(plain_);
    }

private:
    void finish() {
        plain_ += without_marks(paragraph_);
        paragraph_.clear();
        if (!table_.empty()) add_table(plain_, table_, columns_);
        table_.clear();
    }

    std::size_t columns_;
    std::string plain_;
    std::string paragraph_;
    std::vector<std::string_view> table_;
    bool in_code_ = false;
};

}  // namespace

std::string plain_text(std::string_view markdown, std::size_t columns) {
    Writer writer(columns);
    for (const std::string_view line : lines_of(markdown)) writer.add(line);
    return writer.take();
}

}  // namespace bullring
