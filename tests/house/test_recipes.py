"""The recipes of CONTRIBUTING.md name the files that their examples stand in, and no other.

A file that is missing, an example that has gone from a file, and a file that a recipe forgets each
fail the recipe. So what CONTRIBUTING.md says of a change is what the last such change has needed.
"""

import fnmatch
import re
from dataclasses import dataclass

import pytest
from harness.node import ROOT

ROOMS = ("include", "protocol", "scripts", "sim", "src", "tests")
# Neither are written by hand, nor part of a change: inputs, mutants, pictures.
LEFT_OUT = ("tests/fuzz/corpus/*", "tests/house/*", "*.patch", "*.svg", "*.png", "*.pyc")
KINDS = 11
FILE = re.compile(r"`(README\.md|\w[\w.-]*/[\w./*-]+)`")


@dataclass(frozen=True)
class Recipe:
    title: str
    example: str
    patterns: tuple  # of the files that it names

    @property
    def name(self):
        return self.title


def recipes(text):
    """The recipes below "## Recipes": a heading with an example, and numbered steps."""
    section = text.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    for title, example, body in re.findall(
        r"(?ms)^### ([^\n:]+): `([^\n]+)`\n(.*?)(?=^### |\Z)", section
    ):
        steps = re.findall(r"(?ms)^\d+\. (.*?)(?=^\d+\. |^\S|\Z)", body)
        named = [name for step in steps for name in re.findall(FILE, step)]
        yield Recipe(title, example, tuple(named))


def sources(root):
    """(path, text) of each file that is written by hand."""
    for room in ROOMS:
        for file in sorted((root / room).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.is_file() and not any(fnmatch.fnmatch(path, out) for out in LEFT_OUT):
                yield path, file.read_text(errors="replace")
    if (root / "README.md").exists():
        yield "README.md", (root / "README.md").read_text()


def complaints(recipe, texts):
    there = [path for path, text in texts if re.search(recipe.example, text)]
    for pattern in recipe.patterns:
        if not fnmatch.filter(there, pattern):
            yield f"{pattern}: `{recipe.example}` stands in no such file"
    for path in there:
        if not any(fnmatch.fnmatch(path, pattern) for pattern in recipe.patterns):
            yield f"{path}: `{recipe.example}` stands there, and the recipe does not name it"


RECIPES = list(recipes((ROOT / "CONTRIBUTING.md").read_text()))


@pytest.fixture(scope="module")
def texts():
    return list(sources(ROOT))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_names_the_files_of_its_example(recipe, texts):
    assert list(complaints(recipe, texts)) == []


def test_there_is_a_recipe_for_each_kind_of_change():
    assert len({recipe.name for recipe in RECIPES}) == KINDS


TEXT = """
## Recipes

### A flag: `--new`

1. `src/a.cpp`: read it
2. `src/*.md`,
   `tests/a.py`: say so

`src/c.cpp` is not part of it.

## More

1. `src/d.cpp`: no recipe
"""


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["src/a.cpp", "src/b.md", "tests/a.py"], 0),
        (["src/a.cpp", "src/b.md", "tests/a.py", "src/c.cpp"], 1),  # it is forgotten
        (["src/a.cpp", "tests/a.py"], 1),  # it has gone
        (["src/a.cpp", "src/b.md", "tests/a.py", "tests/fuzz/corpus/x", "src/a.svg"], 0),
    ],
)
def test_a_recipe_that_is_not_true_is_found(tree, files, found):
    for file in files:
        tree.plant(file, "it has --new\n")
    tree.plant("src/other.cpp", "it has --old\n")
    (recipe,) = recipes(TEXT)
    assert recipe.patterns == ("src/a.cpp", "src/*.md", "tests/a.py")
    assert len(list(complaints(recipe, list(sources(tree.root))))) == found
