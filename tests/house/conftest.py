"""The tests of the rules share a simulated tree of sources, in which they plant files."""

import pytest


class Tree:
    def __init__(self, root):
        self.root = root

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "tree")
