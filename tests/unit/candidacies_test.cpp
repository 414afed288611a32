// The worker under a node's leadership (H); examples as text are attach/testdata/candidacies.txt.
#include "protocol/attach/candidacies.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include <doctest/doctest.h>

#include "protocol/values/names.hpp"
#include "tests/support/text_cases.hpp"

namespace bullring::protocol::candidacies_test {
namespace {

using test::CommandWords;

class CandidaciesPlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        Candidacies::Orders orders;
        if (first == "new") {
            Timing timing;
            timing.lease = milliseconds(800);
            timing.heartbeat = milliseconds(100);
            const bool own_task = words.take("own");
            candidacies_.emplace(timing, own_task, words.take("beside"));
            now_ = {};
            orders = candidacies_->on_open();
        } else if (first == "at") {
            now_ = instant(words);
            orders = candidacies_->on_wake(now_);
        } else if (first == "start") {
            orders = candidacies_->on_start(now_, epoch_ = words.id<Epoch>());
        } else if (first == "stop") {
            orders = candidacies_->on_stop(now_, epoch_, *named<DeposedReason>(words.next()));
        } else if (first == "untied") {
            const Instant until = instant(words);
            const Epoch epoch = words.take("in") ? words.id<Epoch>() : epoch_;
            orders = candidacies_->on_untied(now_, epoch, until);
        } else if (first == "own-ended") {
            const bool by_itself = words.take("by-itself");
            orders = candidacies_->on_own_ended(now_, {epoch_, by_itself, words.take("failed")});
        } else if (first == "own-willing") {
            orders = candidacies_->on_own_willing(now_, true);
        } else if (first == "own-unwilling") {
            orders = candidacies_->on_own_willing(now_, false);
        } else if (first == "works") {
            const auto works = candidacies_->works();
            return works ? std::to_string(works->value) : "nobody";
        } else {
            const auto client = words.id<ClientId>();
            return of_client(first, client, words);
        }
        return text(orders);
    }

private:
    std::string of_client(const std::string& what, ClientId client, CommandWords& words) {
        Candidacies::Orders orders;
        bool may = true;
        if (what == "campaign")
            may = candidacies_->on_campaign(now_, client, candidacy(words), orders);
        else if (what == "done")
            may = candidacies_->on_done(now_, client, words.take("again"), orders);
        else if (what == "progress")
            may = candidacies_->on_progress(now_, client);
        else if (what == "ended")
            orders = candidacies_->on_ended(now_, client);
        else if (what == "closed")
            orders = candidacies_->on_closed(now_, client);
        else
            throw std::runtime_error(what);
        return may ? text(orders) : "refused";
    }
    static Candidacy candidacy(CommandWords& words) {
        Candidacy asks;
        if (words.take("stall")) asks.stall_after = milliseconds(words.number());
        if (words.take("at")) asks.advertised = words.next();
        return asks;
    }
    /// `MS` or `MS/RAW`.
    static Instant instant(CommandWords& words) {
        const std::string word = words.next();
        const std::size_t slash = word.find('/');
        const std::int64_t boottime = std::stoll(word);
        const std::int64_t raw =
            slash == std::string::npos ? boottime : std::stoll(word.substr(slash + 1));
        return {milliseconds(boottime).ns, milliseconds(raw).ns};
    }
    static std::string ms(std::int64_t ns) { return std::to_string(ns / 1'000'000); }

    static std::string text(const Event& event) {
        if (const auto* ended = std::get_if<TaskEnded>(&event))
            return "task ended " + std::to_string(ended->epoch.value) +
                   (ended->by_itself ? " by itself" : "") + (ended->failed ? ", failed" : "");
        if (const auto* tying = std::get_if<Tying>(&event)) return tying->tie ? "tie" : "untie";
        if (const auto* work = std::get_if<WorkChanged>(&event))
            return std::string("work ") + name(work->work) +
                   (work->advertised.empty() ? "" : " at " + work->advertised);
        return std::holds_alternative<Stalled>(event) ? "stalled" : "?";
    }
    static std::string text(const Candidacies::Orders& orders) {
        std::string all;
        for (const Candidacies::Order& order : orders) {
            all += all.empty() ? "" : "; ";
            all += std::visit(
                [](const auto& what) -> std::string {
                    using What = std::decay_t<decltype(what)>;
                    if constexpr (std::is_same_v<What, Candidacies::Tell>) {
                        return text(what.event);
                    } else if constexpr (std::is_same_v<What, Candidacies::StartOwn>) {
                        return "start own " + std::to_string(what.epoch.value);
                    } else if constexpr (std::is_same_v<What, Candidacies::StopOwn>) {
                        return "stop own " + std::to_string(what.epoch.value);
                    } else {
                        const std::string of = std::to_string(what.client.value) + " of " +
                                               std::to_string(what.epoch.value);
                        if constexpr (std::is_same_v<What, Candidacies::Hold>)
                            return (what.first ? "elect " : "prolong ") + of + " until " +
                                   ms(what.valid_until_ns);
                        else if constexpr (std::is_same_v<What, Candidacies::Stop>)
                            return (what.first ? std::string("stop ") : "stop later ") + of +
                                   " by " + ms(what.by_ns) + ", " + name(what.reason);
                        else
                            return "release " + of;
                    }
                },
                order);
        }
        return all;
    }

    std::optional<Candidacies> candidacies_;
    Instant now_;
    Epoch epoch_;
};

TEST_CASE("candidacies: examples") {
    CandidaciesPlayer player;
    test::play_text_cases("attach/testdata/candidacies.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

}  // namespace
}  // namespace bullring::protocol::candidacies_test
