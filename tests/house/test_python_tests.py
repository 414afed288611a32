"""CMake learns from the Python tests' own markers how they run."""

import pytest
from python_tests import how_it_runs


@pytest.fixture
def file(tmp_path):
    return tmp_path / "test_it.py"


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("", ([], 600, 2)),
        ("pytestmark = pytest.mark.long", (["long"], 600, 2)),
        ("pytestmark = [pytest.mark.beside, pytest.mark.limit(30)]", ([], 30, 1)),
        ("pytestmark = [on_both(3), pytest.mark.sanitize_long]", (["sanitize-long"], 600, 2)),
        ("pytestmark = pytest.mark.alone", ([], 600, 1000)),
        ("pytestmark = pytest.mark.busy", ([], 600, 2)),
        ('pytestmark = pytest.mark.skipif(True, reason="no")', ([], 600, 2)),
    ],
)
def test_markers_say_how_a_file_runs(file, marks, expected):
    file.write_text(f'"""A test."""\n{marks}\n')
    assert how_it_runs(file) == expected


@pytest.mark.parametrize("mark", ["lnog", "limit()", "limit(soon)"])
def test_a_marker_that_is_not_understood_is_refused(file, mark):
    file.write_text(f"pytestmark = pytest.mark.{mark}\n")
    with pytest.raises(ValueError):
        how_it_runs(file)
