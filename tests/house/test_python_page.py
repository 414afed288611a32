"""python3-bullring(7) is of the package that is there, and each misuse on it has a test."""

import inspect
import re

import bullring
from harness.node import ROOT

PAGE = (ROOT / "src" / "manual" / "python3-bullring.7.md").read_text()
# By the first words of what goes wrong.
TESTS = {
    "Working on after `valid()` is false": "test_a_task_that_sleeps_or_works_on_is_stopped",
    "`time.sleep()` in the body": "test_a_task_that_sleeps_or_works_on_is_stopped",
    "Swallowed cancellations": "test_a_swallowed_cancellation_comes_once_more",
    "A cancellation from elsewhere at the time of the loss": "test_of_a_loss_and_a_cancellation",
    "Code without an `await`": "test_a_body_without_an_await_is_not_cancelled",
    "`os.fork()`, multiprocessing": "test_a_forked_child_leads_nothing",
    "Threads": "test_two_loops_in_two_threads",
    "A long pause, of the garbage collector or the whole process": "test_a_stopped_holder",
    "Ctrl-C": "test_ctrl_c_between_any_two_lines",
    "A node that ends or is started anew": "test_a_node_that_is_started_anew_ends_no_program",
    "A second `lead` of the same cluster within the body": "test_who_does_not_want_to_wait",
    "A task that hangs": "test_who_shows_no_progress_loses_it",
    '`on_loss="kill"`, and children': "test_who_is_to_end_with_its_node_is_killed_and_its_children",
}


def part(heading):
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_each_misuse_has_a_test():
    assert re.findall(r"(?m)^(.+)\n:   ", part("WHAT GOES WRONG")) == list(TESTS)
    files = (ROOT / "tests" / "process").glob("test_*.py")
    text = "".join(file.read_text() for file in files)
    assert [test for test in TESTS.values() if f"def {test}" not in text] == []


def test_all_that_it_has_is_on_the_page_and_has_a_docstring():
    for name in bullring.__all__:
        assert re.search(rf"`{name}\b", PAGE), name
        thing = getattr(bullring, name)
        assert inspect.getdoc(thing), name
        for member in [member for member in vars(thing) if not member.startswith("_")]:
            assert re.search(rf"\b{member}\b", PAGE), f"{name}.{member}"


def test_the_settings_on_the_page_are_those_that_it_takes():
    for name in ("lead", "Observer", "FencingGuard"):
        signature = str(inspect.signature(getattr(bullring, name).__init__))
        plain = re.sub(r": '[^']*'|: \"[^\"]*\"| -> .*|self, ", "", signature).replace(" = ", "=")
        assert f"`{name}{plain}`".replace("'", '"') in PAGE, plain
