"""The commands of the README, for the tests that run them.

A block of commands stands between ```sh and ```. A test takes it by the heading above it, and each
of its lines by a pattern; a line that is left over fails the test. tests/house/test_documents.py
fails when no test takes a block.
"""

import contextlib
import re

from harness.node import ROOT

FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")


class Block:
    """Commands, one a line, without their comments."""

    def __init__(self, text):
        self.lines = [re.sub(r"\s+# .*", "", line) for line in text.splitlines()]

    def take(self, pattern):
        """The first line that has not been taken, which has to match."""
        line = self.lines.pop(0) if self.lines else "the end of the block"
        assert re.match(pattern, line), f"README: expected {pattern}, found: {line}"
        return line


def sections(text=None):
    """Each heading with the blocks below it: (language, text)."""
    text = (ROOT / "README.md").read_text() if text is None else text
    # In a block a # begins a comment.
    outside = FENCE.sub(lambda match: match[0].replace("#", "·"), text)
    starts = [match.start() for match in re.finditer(r"(?m)^#+ ", outside)] + [len(text)]
    found = {}
    for begin, end in zip(starts, starts[1:]):
        heading, _, body = text[begin:end].partition("\n")
        found[heading.lstrip("# ")] = FENCE.findall(body)
    return found


def blocks(heading, language):
    return [text for name, text in sections()[heading] if name == language]


@contextlib.contextmanager
def commands(heading, index=0):
    """The lines of a block; at the end all of them must have been taken."""
    block = Block(blocks(heading, "sh")[index])
    yield block
    assert block.lines == [], "README: nobody runs these"
