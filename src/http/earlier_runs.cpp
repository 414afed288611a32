#include "src/http/earlier_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/values/names.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/text/json.hpp"
#include "src/node/report/event_line.hpp"

namespace bullring {

namespace {

/// Of a leadership there are two, of a run one more: these are far more than are kept, and are read
/// in a millisecond.
constexpr std::size_t lines_max = 512;

/// None for a word that no version of LeaderEnd has.
std::optional<LeaderEnd> end_in(const Json& line) {
    const auto word = line.find("before");
    if (word == line.end() || !word->is_string()) return std::nullopt;
    return protocol::named<LeaderEnd>(word->get_ref<const std::string&>());
}

class PastReader {
public:
    explicit PastReader(const StreamOwner& owner) : owner_(owner) {}

    void take(std::string_view text) {
        Json line = Json::parse(text, nullptr, false);
        // Its writer died within the line, and the next one began where it ended.
        if (!line.is_object())
            line = Json::parse(text.substr(audit::begin_of_last_event(text)), nullptr, false);
        if (!line.is_object()) return;
        try {
            on_event(line);
        } catch (const Json::exception&) {
            // It lacks what such a line has, so it is none.
        }
    }

    std::deque<History::Leadership> past() { return std::move(past_); }

private:
    void on_event(const Json& line) {
        if (whole_number(line.at("node")) != owner_.node.value) return;
        const Json& kind = line.at("event");
        if (kind == "started")
            is_ours_ = line.value("cluster", owner_.cluster) == owner_.cluster;
        else if (kind == "leader" && is_ours_ && !line.at("leader").is_null())
            on_leader(line);
    }

    void on_leader(const Json& line) {
        const auto ts_ns = static_cast<std::int64_t>(whole_number(line.at("ts_ns")));
        const auto time_ns = audit::parse_time(line.at("time").get_ref<const std::string&>());
        protocol::LeaderChanged what;
        what.leader = id_or_nobody(line.at("leader"));
        what.epoch = {whole_number(line.at("epoch"))};
        what.advertised = line.at("advertised").get<std::string>();
        if (!time_ns || !what.leader) return;
        if (!past_.empty()) {
            // It has led all along, while the node was started anew or did not hear of it.
            const protocol::LeaderChanged& last = past_.back().what;
            if (last.leader == what.leader && last.epoch == what.epoch) return;
        }
        past_.push_back({{ts_ns, 0}, std::move(what), end_in(line), gap_of(line), *time_ns});
        if (past_.size() > History::leaderships_max) past_.pop_front();
    }

    /// None: it is not known.
    static std::optional<protocol::Duration> gap_of(const Json& line) {
        const auto gap = line.find("gap_ms");
        if (gap == line.end() || !gap->is_number()) return std::nullopt;
        const auto ns = gap->get<double>() * 1e6;
        if (ns < 0 || ns >= 1e18) return std::nullopt;
        return protocol::Duration{std::llround(ns)};
    }

    const StreamOwner& owner_;
    bool is_ours_ = true;  // the run whose lines are read
    std::deque<History::Leadership> past_;
};

/// From `from` to `end`, or as far as there is anything.
std::string bytes_of(int file, off_t from, off_t end) {
    std::string text(static_cast<std::size_t>(end - from), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count =
            ::pread(file, text.data() + done, text.size() - done, from + static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw std::system_error(errno, std::generic_category());
        if (count == 0) break;  // it has been cut meanwhile
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    return text;
}

}  // namespace

std::deque<History::Leadership> leaderships_in(std::string_view lines, const StreamOwner& owner) {
    std::deque<std::string_view> worth_reading;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        // Most lines are of other kinds, and need not be understood.
        if (line.find(R"("leader")") != std::string_view::npos ||
            line.find(R"("started")") != std::string_view::npos)
            worth_reading.push_back(line);
        if (worth_reading.size() > lines_max) worth_reading.pop_front();
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    PastReader reader(owner);
    for (const std::string_view line : worth_reading) reader.take(line);
    return reader.past();
}

EarlierRuns::EarlierRuns(const NodeOptions& options)
    : path_(options.events_file), owner_{options.config.self, options.config.cluster} {
    struct stat found {};
    if (path_.empty() || path_ == "-" || ::stat(path_.c_str(), &found) != 0) return;
    if (S_ISREG(found.st_mode)) end_ = End{found.st_dev, found.st_ino, found.st_size};
}

std::deque<History::Leadership> EarlierRuns::read() const {
    if (!any()) return {};
    const OwnedFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    struct stat found {};
    try {
        if (!file || ::fstat(file.get(), &found) != 0)
            throw std::system_error(errno, std::generic_category());
        // The file there now belongs to this run.
        if (found.st_dev != end_->device || found.st_ino != end_->file) return {};
        const off_t from = std::max<off_t>(0, end_->size - static_cast<off_t>(bytes_max));
        const std::string text = bytes_of(file.get(), from, end_->size);
        std::string_view lines = text;
        if (from > 0) lines.remove_prefix(std::min(lines.find('\n'), lines.size()));
        return leaderships_in(lines, owner_);
    } catch (const std::system_error& error) {
        log(LogLevel::info,
            fmt::format("who led before this start can't be read from the events file {}: {}",
                        path_, error.code().message()));
        return {};
    }
}

}  // namespace bullring
