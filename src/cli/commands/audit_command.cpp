// `bullring audit`: reads event streams and says whether leaderships overlapped.
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/verify/audit/report.hpp"
#include "src/verify/audit/stream_reader.hpp"
#include "src/verify/audit/verdict.hpp"

namespace bullring {

namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

/// The problem with the stream, for people.
std::optional<std::string> read_stream(const std::string& path, audit::History& history) {
    const bool is_stdin = path == "-";
    const OwnedFd file(is_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto unreadable = [&] {
        return fmt::format("the file {} can't be read: {}", in_quotes(path),
                           std::generic_category().message(errno));
    };
    if (!is_stdin && !file) return unreadable();
    history.open_file(path);
    audit::StreamReader reader(history);
    const auto complaint = [&](const audit::WrongStream& wrong) {
        return fmt::format("{}:{}: not a line of an event stream: {}", path, wrong.line,
                           wrong.what);
    };
    static std::array<char, piece_bytes> piece;
    while (true) {
        const ssize_t count =
            ::read(is_stdin ? STDIN_FILENO : file.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return unreadable();
        if (count == 0) break;
        if (const auto wrong = reader.read({piece.data(), static_cast<std::size_t>(count)}))
            return complaint(*wrong);
    }
    if (const auto wrong = reader.end()) return complaint(*wrong);
    return std::nullopt;
}

int run_audit(const AuditOptions& options) {
    audit::History history;
    bool all_are_streams = true;
    for (const std::string& path : options.files) {
        const std::size_t before = history.lines();
        if (const auto wrong = read_stream(path, history)) {
            print_error(*wrong);
            all_are_streams = false;
        } else if (history.lines() == before && options.log.level != LogLevel::error) {
            print_error(fmt::format("the file {} holds no event", in_quotes(path)));
        }
    }
    if (!all_are_streams) return wrong_usage;
    if (history.lines() == 0) {
        print_error("no file holds an event, so there is nothing to judge");
        return wrong_usage;
    }
    history.close();
    if (const auto mixture = history.mixture()) {
        print_error(*mixture + "; expected the streams of one cluster");
        return wrong_usage;
    }
    if (options.actions) {
        const audit::Actions& actions = history.actions();
        return print_answer(options.json ? actions.json() : actions.text()) ? 0 : 1;
    }
    const audit::Verdict verdict = audit::judge(history, options.clock_error);
    const std::string text =
        options.json ? audit::to_json(history, verdict) : audit::to_text(history, verdict);
    if (!print_answer(text)) return 1;
    for (const audit::Contradiction& one : verdict.contradictions)
        print_error(audit::summary(history, one));
    if (!verdict.contradictions.empty()) return 1;
    if (!options.strict || verdict.proved()) return 0;
    print_error("the streams do not prove it, which --strict asks for");
    return 1;
}

}  // namespace

Work audit_command(const Given& given) {
    const Request& request = given.request;
    if (given.operands.empty())
        given.report.add("no event stream; expected bullring audit EVENTS [EVENTS…]");
    if (request.actions.value && request.strict.value)
        given.report.add(
            "--strict says when a judgement fails, and with --actions none is made; "
            "expected one of them");
    for (const std::string& file : given.operands)
        if (file.empty()) given.report.add("\"\" names no file; expected an event stream");
    return {AuditOptions{given.operands, request.clock_error.value, request.json.value,
                         request.strict.value, request.actions.value, request.log()},
            run_audit};
}

}  // namespace bullring
