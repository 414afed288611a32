// The durable reserve (R7) alone; examples as text are recovery/testdata/reserve.txt.
#include "protocol/recovery/reserve.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/text_cases.hpp"

namespace bullring::protocol::reserve_test {
namespace {

using test::CommandWords;

class ReservePlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        if (first == "new") return start(words);
        if (first == "covers") return covers(words);
        if (first == "write") return write();
        if (first == "done") return done();
        if (first == "outrun") return outrun(words);
        if (first == "want") {
            const Epoch hw = words.id<Epoch>();
            reserve_.want(hw, Duration{words.number()});
        } else if (first == "use") {
            reserve_.keep_ahead_of(words.id<Epoch>());
        } else if (first == "lower") {
            reserve_.lower_promised_max(Duration{words.number()});
        } else if (first == "stop") {
            reserve_.want_exactly(words.id<Epoch>());
        } else if (first == "outlived") {
            reserve_.may_be_outlived(true);
        } else {
            throw std::runtime_error(first);
        }
        return reserve_.all_written() ? "nothing to write" : "";
    }

private:
    static std::string text(const Durable& durable) {
        return std::to_string(durable.hw.value) + " " + std::to_string(durable.promised_max.ns) +
               (durable.hooks ? " hooks" : "");
    }

    std::string start(CommandWords& words) {
        reserve_ = Reserve(std::nullopt, false);
        if (words.empty()) return {};
        Durable file;
        file.hw = words.id<Epoch>();
        file.promised_max = Duration{words.number()};
        reserve_ = Reserve(file, words.take("with-hooks"));
        return {};
    }
    std::string covers(CommandWords& words) {
        const Epoch asked = words.id<Epoch>();
        return reserve_.covers(asked, Duration{words.number()}) ? "yes" : "no";
    }
    std::string write() {
        std::vector<Action> out;
        Step step{{0, 0}, out};
        reserve_.write(step);
        if (out.empty()) return "nothing";
        writing_ = std::get<Persist>(out.front()).durable;
        return text(writing_);
    }
    std::string done() {
        reserve_.on_persisted(writing_);
        return "promised_max " + std::to_string(reserve_.promised_max().ns);
    }
    /// So many times `by` epochs are used while each write is under way.
    std::string outrun(CommandWords& words) {
        const std::int64_t times = words.number();
        const std::int64_t by = words.number();
        Epoch used = reserve_.on_disk().hw;
        for (std::int64_t i = 0; i < times; ++i) {
            reserve_.keep_ahead_of(used);
            write();
            used = used + static_cast<std::uint64_t>(by);
            reserve_.keep_ahead_of(used);
            done();
        }
        return std::string(reserve_.covers(used + 1, {}) ? "covered" : "behind") + ", ahead by " +
               std::to_string(Reserve(reserve_).ahead_of(used).value - used.value);
    }

    Reserve reserve_{std::nullopt, false};
    Durable writing_;
};

TEST_CASE("reserve: the rules of R7 as text") {
    ReservePlayer player;
    test::play_text_cases("recovery/testdata/reserve.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

}  // namespace
}  // namespace bullring::protocol::reserve_test
