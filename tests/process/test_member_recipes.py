"""The recipes of bullring-member(1), word for word: each address is a machine of its own.

A recipe's commands are typed as they stand there, and a comment is done as it says.
"""

import dataclasses
import os

from harness import netns
import pytest
from clusters import on_both
from harness.node import ROOT
from harness.readme import sections
from site_of_machines import NETWORK, Site

REASON = netns.unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

MACHINES = range(1, 10)


@dataclasses.dataclass
class Recipe:
    """Where one begins, and what has come of it."""

    founders: int
    votes: dict  # of each member, at the end
    lost: tuple = ()  # for each block: nodes whose machines are lost before it, with their disks
    command: str = "node"


def voters(*ids):
    return dict.fromkeys(ids, True)


RECIPES = {
    "Grow from one to three, and to five": Recipe(1, voters(1, 2, 3, 4, 5)),
    "Instances that come and go": Recipe(3, voters(1, 2, 3), command="run"),
    "Shrink": Recipe(5, voters(1, 2, 3)),
    "A machine is replaced under the same ID": Recipe(3, voters(1, 2, 3), lost=[{2}]),
    "A machine gets another address": Recipe(3, voters(1, 2, 3)),
    "Many machines get other addresses": Recipe(3, voters(1, 2, 3)),
    "A machine is replaced under a new ID": Recipe(3, voters(1, 3, 4), lost=[{2}]),
    "All move to new machines": Recipe(3, voters(4, 5, 6)),
    "A disk is lost": Recipe(3, voters(1, 2, 3), lost=[{3}, {3}]),
    "A majority is lost for ever": Recipe(5, voters(1, 2, 3), lost=[{1, 4, 5}, set()]),
}


def written():
    """Each recipe's blocks of commands, by its heading."""
    page = (ROOT / "src" / "manual" / "bullring-member.1.md").read_text()
    recipes = page[page.index("## RECIPES") : page.index("## OPTIONS")]
    return {
        heading: [text for _, text in blocks]
        for heading, blocks in sections(recipes).items()
        if heading != "RECIPES"
    }


@pytest.fixture(scope="module")
def network():
    bridge = netns.Bridge(MACHINES, NETWORK)
    yield bridge
    bridge.close()


def test_each_recipe_is_tried():
    assert list(written()) == list(RECIPES)


def follow(site, heading):
    recipe = RECIPES[heading]
    for number, block in enumerate(written()[heading]):
        for node_id in recipe.lost[number] if recipe.lost else ():
            site.lose(node_id)
        for line in block.splitlines():
            site.type(line)
    cluster = site.cluster
    cluster.wait_for(lambda: site.votes() == recipe.votes, f"the votes are {recipe.votes}")
    return cluster.wait_leader(among=recipe.votes)


@pytest.mark.parametrize("heading", RECIPES)
@on_both(0)
def test_a_recipe_does_what_it_says(network, new_cluster, algorithm, n, heading):
    recipe = RECIPES[heading]
    site = Site(network, new_cluster(n, algorithm))
    site.found(recipe.founders, recipe.command)
    follow(site, heading)


@on_both(0)
def test_from_one_machine_to_five_and_to_three_others_under_load(
    network, new_cluster, spawn, algorithm, n
):
    """The audit of all event streams at the end of the test finds no overlap."""
    for _ in range(2 * os.cpu_count()):
        spawn(["sh", "-c", "while :; do :; done"])
    site = Site(network, new_cluster(n, algorithm))
    site.found(1, "node")
    for heading in ("Grow from one to three, and to five", "Shrink", "All move to new machines"):
        follow(site, heading)
    elected = [e["epoch"] for e in site.cluster.events() if e["event"] == "elected"]
    assert elected == sorted(set(elected))
