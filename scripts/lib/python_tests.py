#!/usr/bin/env python3
"""Prints for CMake how each file of Python tests in a folder runs, one line a file:

    NAME SECONDS SLOTS [LABEL…]     how long it may take, and how many of ctest's slots it fills

scripts/test gives ctest two slots a processor. What computes fills two; real processes, which
mostly wait, fill one, as does what says so. A file says by pytest's own markers how it runs,
`pytestmark = …`; pyproject.toml names them. The file is read and not run, for pytest need not be
installed where the project is only built.

Usage: python_tests.py FOLDER     exit 1 when a marker is not understood
"""

import ast
import pathlib
import sys

LABELS = {"long": "long", "sanitize": "sanitize", "sanitize_long": "sanitize-long"}
SECONDS = 600
SLOTS = {"beside": 1, "busy": 2, "alone": 1000}  # ctest takes no more than there are


def markers(tree):
    """(name, arguments) of each pytest.mark in `pytestmark`."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets) != "pytestmark":
            continue
        value = statement.value
        for mark in value.elts if isinstance(value, ast.List) else [value]:
            called = isinstance(mark, ast.Call)
            name = ast.unparse(mark.func if called else mark)
            if name.startswith("pytest.mark."):
                yield name.removeprefix("pytest.mark."), mark.args if called else []


def how_it_runs(path):
    labels, seconds, slots = [], SECONDS, 1 if path.parent.name == "process" else 2
    for name, arguments in markers(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if name in LABELS:
            labels.append(LABELS[name])
        elif name == "limit":
            (argument,) = arguments
            seconds = int(ast.literal_eval(argument))
        elif name in SLOTS:
            slots = SLOTS[name]
        elif name not in ("skipif", "parametrize"):
            raise ValueError(f"{path}: this marker is not understood: {name}")
    return labels, seconds, slots


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("test_*.py")):
        labels, seconds, slots = how_it_runs(path)
        print(path.stem, seconds, slots, *labels)


if __name__ == "__main__":
    try:
        main()
    except ValueError as problem:
        sys.exit(f"python_tests.py: {problem}")
