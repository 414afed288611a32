// The trace of a simulated run, in the format of `bullring node --trace`, and the picture of it.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/diagram/diagram.hpp"
#include "sim/scenario/runner.hpp"

namespace bullring::sim {

struct PictureFlags {
    std::string trace;
    std::string diagram;
    std::string from;
    std::string to;
};

void add_picture_flags(CLI::App& command, PictureFlags& flags);

/// Durations of the flags, checked.
diagram::DiagramOptions diagram_options(const PictureFlags& flags);

class TraceObserver;

class Picture {
public:
    explicit Picture(const PictureFlags& flags);
    ~Picture();
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    /// The run is to be told to this picture; nothing if none is wanted.
    void watch(RunOptions& options);
    /// Writes the files. Throws CLI::FileError when it can't.
    void finish(const std::string& title);

private:
    const PictureFlags& flags_;
    std::unique_ptr<TraceObserver> observer_;
};

}  // namespace bullring::sim
