#include "src/node/storage/storage.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/failure_text.hpp"

namespace bullring {

namespace {

/// It is of this directory, or of before there were ids of any, and nothing that is known there is
/// missing here.
bool is_older(const protocol::Durable& there, const protocol::Durable& here) {
    return there.hw <= here.hw && there.promised_max <= here.promised_max &&
           there.members.tag() <= here.members.tag() &&
           !there.members.is_of_other_cluster_than(here.members) &&
           (!there.identity.known() || there.identity.known() == here.identity.known()) &&
           (!there.directory || there.directory == here.directory);
}

}  // namespace

Storage::Storage(StateDirectory directory, std::optional<protocol::Durable> last,
                 Callbacks callbacks, DurationCounts* durations)
    : directory_(std::move(directory)),
      last_(last),
      callbacks_(std::move(callbacks)),
      durations_(durations) {}

Storage::~Storage() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
}

void Storage::add(const Task& task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        queue_.push_back(task);
        if (running_) return;
        running_ = true;
    }
    if (thread_.joinable()) thread_.join();  // it has seen an empty queue and is over
    try {
        thread_ = quiet_thread([this] { run(); });
    } catch (const std::system_error& error) {
        log_limited(LogLevel::warn, "no thread for the state", {},
                    failure_text(error) + ": this node pauses while its state is written");
        run();
    }
}

void Storage::run() {
    while (true) {
        Task task;
        {
            const std::lock_guard lock(mutex_);
            if (stopping_ || queue_.empty()) {
                running_ = false;
                return;
            }
            task = queue_.front();
            queue_.pop_front();
        }
        const auto done = carry_out(task);
        if (!done) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
            }
            callbacks_.failed(done.error());
            return;
        }
        if (task) callbacks_.done(*task);
    }
}

tl::expected<void, std::string> Storage::carry_out(const Task& task) {
    if (!task) return put_back();
    const protocol::Instant begun = read_clock();
    auto saved = save(*task);
    if (durations_ != nullptr) durations_->add(protocol::elapsed(begun, read_clock()));
    last_ = *task;
    return saved;
}

/// Both have the newest: the path may lead to either at the next start.
tl::expected<void, std::string> Storage::save(const protocol::Durable& durable) {
    auto saved = directory_.save(durable);
    if (!at_path_) return saved;
    const auto there = at_path_->save(durable);
    if (there) return {};
    log_limited(LogLevel::error, "misplaced state", {}, there.error());
    return saved;
}

tl::expected<void, std::string> Storage::put_back() {
    const Place place = look_at_path();
    const StateDirectory& needed = at_path_ ? *at_path_ : directory_;
    const auto done = needed.put_back(last_);
    if (!done) return tl::unexpected(done.error());
    for (const std::string& problem : done->problems)
        log(LogLevel::warn, "a file was removed from the data directory: " + problem);
    for (const std::string& name : done->names)
        log(LogLevel::warn, fmt::format("somebody has removed the file {} from the data "
                                        "directory; it is there again",
                                        name));
    callbacks_.looked(place);
    return {};
}

Storage::Place Storage::look_at_path() {
    if (directory_.is_at_its_path()) {
        at_path_.reset();
        return {};
    }
    Place place{fmt::format("the path {} leads to another directory than at this node's start: "
                            "something was mounted over it, or it was moved or removed; ",
                            directory_.path()),
                true};
    if (const auto held = hold_what_is_at_path()) {
        place.misplaced +=
            "the state is kept in both; have it lead to the right one, and restart "
            "this node";
    } else {
        place.misplaced += "a start would not go on with this node's state (" + held.error() +
                           "): have it lead to the right one before";
        place.held = false;
    }
    return place;
}

tl::expected<void, std::string> Storage::hold_what_is_at_path() {
    if (at_path_ && at_path_->is_at_its_path()) return {};
    at_path_.reset();
    auto there = directory_.at_its_path();
    if (!there) return tl::unexpected(there.error());
    const auto state = there->load();
    if (!state) return tl::unexpected(state.error());
    if (*state && !(last_ && is_older(**state, *last_)))
        return tl::unexpected(std::string("there is a newer one, or one of another cluster"));
    if (last_)
        if (auto saved = there->save(*last_); !saved) return saved;
    at_path_.emplace(std::move(*there));
    return {};
}

}  // namespace bullring
