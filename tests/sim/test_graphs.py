"""L1 on every graph of links between 3, 4 and 5 nodes: where a node is connected to a majority,
there is a stable leader within P(L) + T_s + 2·T_ring; where none is, there is no leader."""

import itertools


# Of profile lan, in ms: P(L), and what L1 adds.
PROMISE, WITHIN = 502, 200 + 2 * 250


def scenario(algorithm, nodes, links):
    degree = [sum(node in link for link in links) for node in range(1, nodes + 1)]
    possible = max(degree) + 1 >= nodes // 2 + 1
    lines = [
        f"nodes {nodes}",
        f"algorithm {algorithm}",
        "profile lan",
        "preempt off",
        "at 0s start all",
        f"at +0s expect leader {nodes} within 5s",
        "at +1s graph " + " ".join(f"{a}-{b}" for a, b in links),
    ]
    if possible:
        lines += [
            # The old leader has lapsed by then, if it had to.
            f"at +{PROMISE}ms expect leader within {WITHIN}ms",
            f"at +{WITHIN}ms expect steady for 3s",
        ]
    else:
        lines += [f"at +{PROMISE}ms expect no leader for 3s"]
    return "# one of all graphs\n" + "\n".join(lines) + "\n"


def test_a_leader_wherever_one_can_be(run_sim, tmp_path):
    files = []
    for algorithm, nodes in itertools.product(("bully", "ring"), (3, 4, 5)):
        links = list(itertools.combinations(range(1, nodes + 1), 2))
        for mask in range(1 << len(links)):
            chosen = [link for bit, link in enumerate(links) if mask >> bit & 1]
            file = tmp_path / f"{algorithm}-{nodes}-{mask:03x}.txt"
            file.write_text(scenario(algorithm, nodes, chosen))
            files.append(file.name)
    assert len(files) == 2 * (8 + 64 + 1024)
    shown = run_sim("scenario", *files).stdout
    assert f"{len(files)} scenarios, 0 broken" in shown
