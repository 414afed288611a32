"""The templates, the hooks and the workflow name what is there."""

import re
import shlex

import pytest
import yaml
from harness.node import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TEMPLATES = [*FORMS, ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def loaded(path):
    return yaml.safe_load(path.read_text())


def name_of(path):
    return path.name


def commands(path):
    """(subcommand, flags) of each `bullring …` that a template quotes."""
    for words in re.findall(r"`bullring ([^`]*)`", path.read_text()):
        subcommand, *flags = words.split()
        yield subcommand, flags


def manual(subcommand):
    """The text of its page; flags without a subcommand stand on the first page."""
    page = "bullring.1.md" if subcommand.startswith("-") else f"bullring-{subcommand}.1.md"
    (found,) = (ROOT / "src").rglob(page)
    return found.read_text()


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_the_commands_of_a_template_are_in_the_manual(template):
    for subcommand, flags in commands(template):
        text = manual(subcommand)
        for flag in (subcommand, *flags):
            assert not flag.startswith("-") or f"`{flag}" in text or f" {flag}" in text, flag


def test_the_form_for_problems_asks_for_what_is_needed():
    form = ROOT / ".github" / "ISSUE_TEMPLATE" / "problem.yml"
    asked = {f"bullring {' '.join([word, *flags])}" for word, flags in commands(form)}
    assert {"bullring doctor --json", "bullring status --json", "bullring audit"} <= asked
    assert "`--events`" in form.read_text()
    assert "`--events " in manual("node")


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_a_form_is_complete(form):
    if form.name == "config.yml":
        assert loaded(form)["blank_issues_enabled"] is False
        return
    content = loaded(form)
    assert content["name"] and content["description"]
    ids = [part.get("id") for part in content["body"] if part["type"] != "markdown"]
    assert None not in ids
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_the_files_of_a_template_are_there(template):
    found = re.findall(
        r"[\w./-]*\b(?:[A-Z]+\.md|scripts/\w+|protocol/[\w/]+)", template.read_text()
    )
    for name in found:
        assert (ROOT / name).exists(), name


def test_the_hooks_run_scripts_of_this_tree():
    (repository,) = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        script, *parts = shlex.split(hook["entry"])
        text = (ROOT / script).read_text()
        for part in parts:
            assert re.search(rf"(?m)^# +{part} ", text), f"{script} has no part {part}"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=name_of)
def test_a_workflow_runs_the_gate(workflow):
    (job,) = loaded(workflow)["jobs"].values()
    # Debian 12 is what scripts/setup is made for.
    assert job["container"]["image"] == "debian:12"
    gate = ROOT / ".ci" / "run"
    assert gate.stat().st_mode & 0o111
    assert ".ci/run" in [step.get("run") for step in job["steps"]]


def test_a_refusal_is_made_of_a_difference_that_has_its_remedies():
    """Of a word of its own nothing would say what is to be done (refusal_text.hpp)."""
    sources = [path for room in ("protocol", "src") for path in (ROOT / room).rglob("*.[ch]pp")]
    made = [path for path in sources if re.search(r"\bRefused\{\"", path.read_text())]
    assert made == []
