// The silence after a restart, and what others answer (R6): text in recovery/testdata/silence.txt.
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "protocol/parts.hpp"
#include "protocol/recovery/recall.hpp"
#include "protocol/values/durations.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/text_cases.hpp"

namespace bullring::protocol::silence_test {
namespace {

using test::CommandWords;

/// Node 5 of five has just been started.
class SilencePlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        if (first == "new") return start(words);
        if (first == "silence") return silence(words);
        if (first == "floor") return floor(words);
        if (first == "held") return held_text();
        if (first == "nothing-held") return nothing_held(node_) ? "yes" : "no";
        if (first == "all-new") return all_are_new(node_) ? "yes" : "no";
        const Index i = *node_.setup.members().index({std::stoull(first)});
        const std::string what = words.next();
        if (what == "has") return answer(i, words);
        if (what == "resigns") {
            node_.peers[i].resigned_by = node_.peers[i].ack.incarnation;
            node_.peers[i].resigned_epoch = words.id<Epoch>();
            return told(i);
        }
        throw std::runtime_error(what);
    }

private:
    static Parts node_of(bool with_file, bool hooks, FirstEpoch first_epoch) {
        Config config = test::config_for(5, {1, 2, 3, 4, 5});
        config.first_epoch = first_epoch;
        Start start = with_file ? test::start_with_file(config) : test::start_without_file(config);
        if (start.file) start.file->promised_max = seconds(2);
        if (start.file) start.file->hooks = hooks;
        return Parts(config, start);
    }
    static Duration duration(CommandWords& words) { return milliseconds(words.number()); }
    static std::string text(Duration length) { return std::to_string(length.ns / 1'000'000); }

    std::string start(CommandWords& words) {
        const bool with_file = words.next() == "file";
        const bool hooks = words.take("hooks");
        const bool from_one = words.take("first-epoch-0");
        node_ = node_of(with_file, hooks, from_one ? FirstEpoch::zero : FirstEpoch::clock);
        return silence(words);
    }
    std::string answer(Index i, CommandWords& words) {
        Peer& peer = node_.peers[i];
        peer.has_ack = true;
        peer.ack = {};
        peer.ack.incarnation = {i + 100U};
        peer.ack.had_file_at_start = words.next() == "file";
        peer.ack.lease = milliseconds(400);
        if (words.take("promised")) peer.ack.promised_max = duration(words);
        if (words.take("lease")) peer.ack.lease = duration(words);
        Recall& recall = peer.ack.recall;
        if (words.take("none")) recall.answer = Recall::Answer::none;
        if (words.take("holds")) {
            recall.answer = Recall::Answer::held;
            recall.epoch = words.id<Epoch>();
            recall.remaining = duration(words);
        }
        return told(i);
    }
    std::string told(Index i) const {
        switch (told_by(node_, i)) {
            case Recall::Answer::cannot_tell: return "cannot tell";
            case Recall::Answer::none: return "none";
            case Recall::Answer::held: return "held";
        }
        return "?";
    }
    std::string silence(CommandWords& words) {
        const Instant started = node_.setup.started();
        const Instant now = started + (words.take("after") ? duration(words) : Duration{0});
        const Recovery::Silence silence = node_.recovery.silence(now, node_.peers);
        return silence.known ? text(elapsed(started, silence.until)) : "not known";
    }
    std::string floor(CommandWords& words) {
        return node_.recovery.floor_from_clock(node_.peers, words.take("again")) ? "the clock's"
                                                                                 : "as answered";
    }
    std::string held_text() const {
        const auto found = held(node_);
        if (!found) return "-";
        return "to " + std::to_string(found->promise.key.id.value) + " for " +
               std::to_string(found->promise.epoch.value) + ", " + text(found->promise.length) +
               " from its answer on";
    }

    Parts node_ = node_of(true, false, FirstEpoch::clock);
};

TEST_CASE("silence: the rules of R6 as text") {
    SilencePlayer player;
    test::play_text_cases("recovery/testdata/silence.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

}  // namespace
}  // namespace bullring::protocol::silence_test
