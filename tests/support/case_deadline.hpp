// A case that never ends says which it is and where it stands.
#pragma once

#include <doctest/doctest.h>

namespace bullring::test {

/// Ends the program by SIGABRT when one case takes longer than four minutes, below the time limit
/// of the whole run, which would only say that something hung. Told on standard error: the case,
/// the stack of the thread that waits where a sanitizer is there to write it, and what each thread
/// of the process is in.
class CaseDeadline : public doctest::IReporter {
public:
    explicit CaseDeadline(const doctest::ContextOptions& options);

    void test_case_start(const doctest::TestCaseData& data) override;
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override;

    void report_query(const doctest::QueryData& /*unused*/) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& /*unused*/) override {}
    void test_case_reenter(const doctest::TestCaseData& /*unused*/) override {}
    void test_case_exception(const doctest::TestCaseException& /*unused*/) override {}
    void subcase_start(const doctest::SubcaseSignature& /*unused*/) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& /*unused*/) override {}
    void log_message(const doctest::MessageData& /*unused*/) override {}
    void test_case_skipped(const doctest::TestCaseData& /*unused*/) override {}
};

}  // namespace bullring::test
