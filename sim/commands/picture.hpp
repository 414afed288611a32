// The trace of a simulated run, in the format of `bullring node --trace`, and the page on which it
// is looked at.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/diagram/viewer_page.hpp"
#include "sim/scenario/runner.hpp"

namespace bullring::sim {

struct PictureFlags {
    std::string trace;
    std::string diagram;
    std::string from;
    std::string to;
};

/// The check of a file that a page is written to.
CLI::Validator is_page_name();

void add_picture_flags(CLI::App& command, PictureFlags& flags);

/// The part of a trace from `from` to `to`, each of them empty or a duration since its beginning.
/// Throws CLI::ValidationError for what is none.
diagram::FirstLook part_of_trace(const std::string& from, const std::string& to);

class TraceObserver;

class Picture {
public:
    /// Throws CLI::ValidationError and CLI::FileError for flags that cannot be followed.
    explicit Picture(const PictureFlags& flags);
    ~Picture();
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    /// This picture observes the run; nothing if none is wanted.
    void watch(RunOptions& options);
    /// Writes the files: of the part that the flags ask for, else the one that the scenario does,
    /// else around its elections. Throws CLI::FileError when it can't.
    void finish(const std::string& title, const Outcome& outcome);

private:
    const PictureFlags& flags_;
    diagram::FirstLook look_;
    std::unique_ptr<TraceObserver> observer_;
};

}  // namespace bullring::sim
