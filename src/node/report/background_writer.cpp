#include "src/node/report/background_writer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/os/descriptors.hpp"
#include "src/base/os/quiet_thread.hpp"

namespace bullring {

namespace {

constexpr std::size_t queued_bytes_max = 1024 * 1024;
constexpr std::chrono::milliseconds given_up_within{200};
constexpr std::chrono::seconds try_again_every{1};
constexpr std::chrono::seconds end_max{1};

}  // namespace

class BackgroundWriter::Work {
public:
    tl::expected<StreamId, std::string> open(const std::string& path, const std::string& what,
                                             LineStream::GapLine gap_line);
    const LineStream& stream(StreamId id) const { return *streams_[id]; }
    void write(StreamId id, std::string line, const Marks& marks);
    void drain(std::chrono::milliseconds patience);
    void reopen();
    void make_again();
    void stop();
    /// After stop(). False when the thread is still at it then.
    bool wait_for_end(std::chrono::milliseconds patience);
    /// The thread's.
    void run();

private:
    struct Line {
        StreamId stream;
        std::string text;
        Marks marks;
    };

    /// Until something has happened, or a stream is to be looked at.
    void wait(std::unique_lock<std::mutex>& lock);
    bool has_lines(StreamId id);

    std::vector<std::unique_ptr<LineStream>> streams_;  // the thread makes them
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> opening_;
    std::vector<Line> queue_;
    std::size_t queued_bytes_ = 0;
    bool reopen_ = false;
    bool make_again_ = false;
    bool stopping_ = false;
    bool ended_ = false;
};

// ---- What the node's thread calls.

BackgroundWriter::BackgroundWriter()
    : work_(std::make_shared<Work>()), thread_(quiet_thread([work = work_] { work->run(); })) {}

BackgroundWriter::~BackgroundWriter() {
    work_->stop();
    if (work_->wait_for_end(end_max)) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

tl::expected<BackgroundWriter::StreamId, std::string> BackgroundWriter::open(
    const std::string& path, const std::string& what, LineStream::GapLine gap_line) {
    return work_->open(path, what, std::move(gap_line));
}

const LineStream& BackgroundWriter::stream(StreamId id) const { return work_->stream(id); }

void BackgroundWriter::write(StreamId id, std::string line, const Marks& marks) {
    work_->write(id, std::move(line), marks);
}

void BackgroundWriter::drain(std::chrono::milliseconds patience) { work_->drain(patience); }

void BackgroundWriter::reopen() { work_->reopen(); }

void BackgroundWriter::make_again() { work_->make_again(); }

tl::expected<BackgroundWriter::StreamId, std::string> BackgroundWriter::Work::open(
    const std::string& path, const std::string& what, LineStream::GapLine gap_line) {
    std::promise<tl::expected<void, std::string>> answer;
    {
        const std::lock_guard lock(mutex_);
        opening_ = [&] {
            streams_.push_back(std::make_unique<LineStream>(path, what, std::move(gap_line)));
            answer.set_value(streams_.back()->open());
        };
    }
    changed_.notify_all();
    if (auto opened = answer.get_future().get(); !opened) return tl::unexpected(opened.error());
    return streams_.size() - 1;
}

void BackgroundWriter::Work::write(StreamId id, std::string line, const Marks& marks) {
    LineStream& stream = *streams_[id];
    bool overflow = stream.overflows();
    if (!overflow) {
        const std::lock_guard lock(mutex_);
        overflow = queued_bytes_ + line.size() > queued_bytes_max;
        if (!overflow) {
            queued_bytes_ += line.size();
            queue_.push_back({id, std::move(line), marks});
        }
    }
    if (overflow) stream.overflow();
    changed_.notify_all();
}

void BackgroundWriter::Work::drain(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return queued_bytes_ == 0; });
}

void BackgroundWriter::Work::reopen() {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
    changed_.notify_all();
}

void BackgroundWriter::Work::make_again() {
    const std::lock_guard lock(mutex_);
    make_again_ = true;
    changed_.notify_all();
}

void BackgroundWriter::Work::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

bool BackgroundWriter::Work::wait_for_end(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return ended_; };
    if (changed_.wait_for(lock, patience, ended)) return true;
    for (const auto& stream : streams_) stream->give_up();
    return changed_.wait_for(lock, given_up_within, ended);
}

// ---- The thread.

void BackgroundWriter::Work::wait(std::unique_lock<std::mutex>& lock) {
    const auto something = [this] {
        return stopping_ || reopen_ || make_again_ || opening_ || !queue_.empty();
    };
    if (std::any_of(streams_.begin(), streams_.end(),
                    [](const auto& stream) { return stream->is_interrupted(); }))
        changed_.wait_for(lock, try_again_every, something);
    else
        changed_.wait(lock, something);
}

bool BackgroundWriter::Work::has_lines(StreamId id) {
    const std::lock_guard lock(mutex_);
    return std::any_of(queue_.begin(), queue_.end(),
                       [id](const Line& line) { return line.stream == id; });
}

void BackgroundWriter::Work::run() {
    leave_shared_descriptors();
    std::vector<Line> lines;
    while (true) {
        bool reopen = false;
        bool make_again = false;
        std::function<void()> opening;
        {
            std::unique_lock lock(mutex_);
            wait(lock);
            if (queue_.empty() && stopping_) break;
            lines.swap(queue_);
            reopen = std::exchange(reopen_, false);
            make_again = std::exchange(make_again_, false);
            opening.swap(opening_);
        }
        if (opening) opening();
        for (const Line& line : lines) {
            line.marks.before.set();
            if (streams_[line.stream]->write(line.text)) line.marks.after.set();
            const std::lock_guard lock(mutex_);
            queued_bytes_ -= line.text.size();
            if (queued_bytes_ == 0) changed_.notify_all();
        }
        lines.clear();
        for (StreamId id = 0; id < streams_.size(); ++id) {
            if (reopen) streams_[id]->reopen();
            if (make_again) streams_[id]->make_again();
            // Lines of before the first that is missing come before the one that tells of it.
            if (streams_[id]->is_interrupted() && !has_lines(id)) streams_[id]->look();
        }
    }
    for (const auto& stream : streams_) stream->close();  // nobody else can close them
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

}  // namespace bullring
