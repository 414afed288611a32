#include "tests/support/case_deadline.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace bullring::test {

namespace {

constexpr unsigned limit_s = 240;

const char* running = "";

std::string line_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Not safe in a handler by the letter: the process is lost, and this is its last word.
void tell_and_abort(int /*signal*/) {
    std::cout.flush();
    std::cerr << "\nNot over after " << limit_s << " s: " << running << "\n";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    __sanitizer_print_stack_trace();
#endif
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored))
        std::cerr << "thread " << task.path().filename().string() << " "
                  << line_of(task.path() / "comm") << ": " << line_of(task.path() / "wchan")
                  << ", system call " << line_of(task.path() / "syscall") << "\n";
    std::cerr.flush();
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

}  // namespace

CaseDeadline::CaseDeadline(const doctest::ContextOptions& /*unused*/) {
    std::signal(SIGALRM, tell_and_abort);
}

void CaseDeadline::test_case_start(const doctest::TestCaseData& data) {
    running = data.m_name;
    ::alarm(limit_s);
}

void CaseDeadline::test_case_end(const doctest::CurrentTestCaseStats& /*unused*/) { ::alarm(0); }

}  // namespace bullring::test
