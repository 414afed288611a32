#!/usr/bin/env python3
"""Whether a formatter would change a file. What was found good is remembered (found_good.py).

Usage: format_checks.py SETTINGS COMMAND… -- FILE…     COMMAND gets one file, and fails if it would
                                                       change it; SETTINGS is its configuration
"""

import os
import pathlib
import subprocess
import sys

from lint import found_good


def main():
    settings, *words = sys.argv[1:]
    command, files = words[: words.index("--")], words[words.index("--") + 1 :]
    version = subprocess.run([command[0], "--version"], check=True, capture_output=True).stdout
    tool = repr((version, pathlib.Path(settings).read_bytes(), command))
    jobs = []
    for file in files:
        inputs = tool + file + pathlib.Path(file).read_text(encoding="utf-8")
        jobs.append(found_good.Job(file, [*command, file], inputs))
    return found_good.look(os.path.basename(command[0]), jobs, os.cpu_count())


if __name__ == "__main__":
    sys.exit(main())
