"""The page's sentences about answers that are made up: its functions (src/http/page/words.js),
called in a real browser.
"""

import re

import pytest
from harness.node import ROOT
from page_looks import in_zone

pytestmark = [pytest.mark.busy, pytest.mark.limit(180)]


@pytest.fixture
def call(new_cluster, ports, browser):
    """Calls a function of words.js."""
    node = new_cluster(1, profile="cloud")[1]
    port = ports.take()
    node.flags = ["--http", f"127.0.0.1:{port}"]
    node.start()
    node.cluster.wait_settled()
    browser.get(f"http://127.0.0.1:{port}/")

    return lambda expression, *arguments: browser.execute_script(f"return {expression}", *arguments)


def told(nodes, quorum="majority"):
    """An answer of /cluster. `nodes`: a letter each, the first of which leads.

    f follows; n follows and could not lead; s follows and is silent after a restart; o follows an
    older leader; v follows and has no vote; - does not answer. Votes are told where there is a v.
    """
    leads = nodes[0] != "-"
    answers = []
    for place, letter in enumerate(nodes, 1):
        up = [other for other, one in enumerate(nodes, 1) if one != "-" and other != place]
        answers.append(
            {
                "id": place,
                "address": f"10.0.0.{place}:7100",
                "reachable": letter != "-",
                "leader": 1 if leads else None,
                "epoch": 6 if letter == "o" else 7,
                "eligible": letter != "n",
                "votes": letter != "s",
                "peers_up": up,
                "advertised": "",
                "why": "no majority: hears 1 of 3",
            }
        )
    if "v" in nodes:
        for answer, letter in zip(answers, nodes):
            answer["vote"] = letter != "v"
    leader = {"leader": 1, "epoch": 7} if leads else {"leader": None, "epoch": None}
    return {"cluster": "blue", "quorum": quorum, "nodes": answers, **leader}


NEEDED = "One more loss and nobody can lead: {} of {} members take part, and {} needed."


WELL = "All is well."
NOT_WELL = "Not all is well:"
BANNERS = [
    (told("fff"), "led", WELL),
    (told("ff-"), "fragile", NEEDED.format(2, 3, "2 are")),
    (told("ffs"), "fragile", NEEDED.format(2, 3, "2 are")),
    (told("ffo"), "fragile", NEEDED.format(2, 3, "2 are")),
    (told("ff"), "fragile", NEEDED.format(2, 2, "2 are")),
    (told("ffff"), "led", WELL),
    (told("fff-"), "fragile", NEEDED.format(3, 4, "3 are")),
    (told("fffff"), "led", WELL),
    (told("ffff-"), "fragile", NOT_WELL),
    (told("fff--"), "fragile", NEEDED.format(3, 5, "3 are")),
    (told("f"), "fragile", "It is the only member: if it is lost, nobody can lead."),
    (told("fnn"), "fragile", "If node 1 is lost, nobody can lead: no other member could."),
    (told("fnf"), "led", WELL),
    (told("fffvv"), "led", WELL),
    (
        told("ff-vv"),
        "fragile",
        "One more loss and nobody can lead: 2 of 3 voters take part, and 2 are needed.",
    ),
    (told("fv"), "fragile", "It is the only voter: if it is lost, nobody can lead."),
    (told("ff", "none"), "led", WELL),
    (told("f--", "none"), "fragile", NEEDED.format(1, 3, "1 is")),
    (told("---"), "leaderless", ""),
]


def test_it_is_green_only_where_one_more_loss_is_survived(call):
    for cluster, expected, risk in BANNERS:
        made = call("verdict(arguments[0])", cluster)
        assert (made["state"], made["risk"]) == (expected, risk), cluster


def test_who_was_removed_and_is_gone_is_missed_by_nobody(call):
    cluster = told("fffv")
    cluster["nodes"][3] |= {"vote": None, "reachable": False}
    assert call("verdict(arguments[0])", cluster)["state"] == "fragile"
    made = call("verdict(withoutTheGone(arguments[0]))", cluster)
    assert (made["state"], made["risk"]) == ("led", WELL)
    # While it runs it says itself that it was removed.
    cluster["nodes"][3]["reachable"] = True
    assert len(call("withoutTheGone(arguments[0])", cluster)["nodes"]) == 4


def test_it_is_amber_where_those_who_would_be_left_do_not_hear_each_other(call):
    star = told("fff")
    for node in star["nodes"][1:]:
        node["peers_up"] = [1]
    assert call("risk(arguments[0])", star) == "If node 1 is lost, nobody can lead."
    chain = told("fffff")
    for node, up in zip(chain["nodes"], ([2, 3], [1], [1], [], [])):
        node["peers_up"] = up
    made = call("verdict(arguments[0])", chain)
    assert made["state"] == "fragile"
    assert made["risk"] == "If one of nodes 1, 2, 3 is lost, nobody can lead."


def test_a_member_that_does_not_tell_whether_it_could_lead_is_taken_at_its_best(call):
    older = told("fff")
    for node in older["nodes"]:
        node["eligible"] = node["votes"] = None
    assert call("risk(arguments[0])", older) == ""


def test_without_a_leader_it_says_why_and_what_to_do(call):
    cluster = told("---") | {"why": "no majority votes yet", "remedy": "wait"}
    for node in cluster["nodes"][:2]:
        node["reachable"] = True
    made = call("verdict(arguments[0])", cluster)
    assert made == {
        "state": "leaderless",
        "headline": "No leader",
        "risk": "No majority votes yet.",
        "troubles": ["Nodes 1, 2: no majority: hears 1 of 3", "Node 3: does not answer"],
        "remedy": "Wait.",
        "detail": "2 of 3 members answer.",
    }
    # The two others may have one.
    cluster["nodes"][1]["reachable"] = False
    made = call("verdict(arguments[0])", cluster)
    assert (made["state"], made["headline"]) == ("leaderless", "No leader known here")
    assert made["detail"] == (
        "1 of 3 members answer this node, which is no majority: the others may have one."
    )


ILL = "unhealthy: exit 1 of health command"
FAILS = {"running": False, "for_ms": 3e3, "starts": 4, "last_end": "exit 1", "last_end_ago_ms": 3e3}
AGAIN = FAILS | {"running": True, "for_ms": 2e3}
ENDS = "2026-11-03T12:00:00Z"


@pytest.mark.parametrize(
    ("of_a_node", "trouble"),
    [
        ({"wrong": ILL, "why": f"follows 1; {ILL}"}, ILL),
        (
            {"reachable": False, "problem": "Connection refused"},
            "does not answer: Connection refused",
        ),
        (
            {"votes": False, "why": "silent after a restart, 2 s left"},
            "silent after a restart, 2 s left",
        ),
        (
            {"listed_address": "10.0.0.9:7100", "listed_problem": "no answer"},
            "not reached at 10.0.0.9:7100, which the list has: no answer",
        ),
        ({"wrong": "does not stand: it …", "task": FAILS, "mode": "run"}, "does not stand: it …"),
        ({"task": AGAIN, "mode": "run"}, "its command ended at 11:59:57 (exit 1)"),
        ({"task": AGAIN, "mode": "library"}, "its task ended at 11:59:57 (exit 1)"),
        ({"task": AGAIN | {"last_end_ago_ms": 9e5}, "mode": "run"}, None),
        ({"certificate_not_after": "2026-11-10T12:00:00Z"}, None),
        ({"certificate_not_after": "2026-11-10T11:59:00Z"}, "its certificate ends in 6 d 23 h"),
        ({"certificate_not_after": "2026-11-03T11:59:00Z"}, "its certificate ended 1 min 0 s ago"),
    ],
)
def test_what_is_wrong_with_a_member_is_said_beside_the_leader(browser, call, of_a_node, trouble):
    in_zone(browser, "UTC")
    cluster = told("ffff")
    cluster["nodes"][1] |= of_a_node
    made = call("verdict(arguments[0], new Date(arguments[1]))", cluster, ENDS)
    found = [one.replace("\N{NO-BREAK SPACE}", " ") for one in made["troubles"]]
    assert found == ([f"Node 2: {trouble}"] if trouble else [])
    assert (made["state"] == "led") == (trouble is None) == (made["risk"] == WELL)
    assert ("Start who" in made["remedy"]) == ("does not answer" in (trouble or ""))
    assert ("new certificate" in made["remedy"]) == ("certificate" in (trouble or ""))


def test_a_certificate_has_the_levels_of_the_alert_rules(call):
    rules = (ROOT / "scripts/packaging/prometheus/bullring.rules.yml").read_text()
    days = re.findall(r"not_after_seconds\) - time\(\) < (?:(\d+) \* )?86400", rules)
    warning, alarm = (int(factor or 1) for factor in days)
    made = "certificateOf({certificate_not_after: arguments[0]}, new Date(arguments[1])).level"
    for day, level in (
        (warning + 1, ""),
        (warning, "doubtful"),
        (alarm + 1, "doubtful"),
        (alarm, "bad"),
    ):
        assert call(made, f"2026-11-{3 + day:02}T11:59:59Z", ENDS) == level, day
    assert call("certificateOf({})") is None


def test_the_work_of_a_member_is_said_in_few_words(browser, call):
    in_zone(browser, "UTC")

    def work(**of_a_node):
        made = call("workOf(arguments[0], new Date(arguments[1]))", of_a_node, ENDS)
        return made.replace("\N{NO-BREAK SPACE}", " ")

    idle = {"running": False, "for_ms": 7e6, "starts": 0, "last_end": None, "last_end_ago_ms": None}
    assert work() == "–"  # of an older version
    assert work(mode="node") == "node"
    assert work(mode="node", lead_commands=2) == "node: 2 commands of lead run"
    holder = {"pid": 47, "name": "python3", "for_ms": 2000}
    assert work(mode="node", attached={"candidates": 2, "holder": holder}) == (
        "node: process 47 (python3) has led for 2.0 s; a process waits to lead"
    )
    assert work(mode="node", attached={"candidates": 2, "holder": None}) == (
        "node: 2 processes wait to lead"
    )
    assert work(mode="run", role="follower", task=idle) == "run: stands by"
    assert work(mode="run", role="leader", task=idle) == "run: does not run"
    assert work(mode="run", role="leader", task=AGAIN) == (
        "run: has run for 2.0 s; ended at 11:59:57 (exit 1); 4 starts"
    )
    assert work(mode="run", role="follower", wrong="it …", task=FAILS) == (
        "run: ended at 11:59:57 (exit 1); 4 starts"
    )


LOCAL = "time(arguments[0], new Date(arguments[1]))"


@pytest.mark.parametrize(
    ("zone", "name", "shown"),
    [
        ("UTC", "UTC", ["2026-11-02 23:59:59", "00:00:01", "2026-11-04 00:00:00"]),
        (
            "Asia/Kolkata",
            "Asia/Calcutta, now UTC+05:30",
            ["05:29:59", "05:30:01", "2026-11-04 05:30:00"],
        ),
        (
            "America/St_Johns",
            "America/St_Johns, now UTC−03:30",
            ["2026-11-02 20:29:59", "2026-11-02 20:30:01", "20:30:00"],
        ),
    ],
)
def test_a_time_has_a_date_unless_it_is_today_and_its_zone_is_named(
    browser, call, zone, name, shown
):
    in_zone(browser, zone)
    times = ["2026-11-02T23:59:59Z", "2026-11-03T00:00:01.999Z", "2026-11-04T00:00:00Z"]
    assert [call(LOCAL, when, "2026-11-03T12:00:00Z") for when in times] == shown
    assert call("zone(new Date(arguments[0]))", "2026-11-03T12:00:00Z") == name


SINCE = "sinceOf(arguments[0], arguments[1], 2, arguments[2], new Date(arguments[3]))"
NOON = "2026-11-03T12:00:00Z"


def test_since_when_somebody_leads_or_nobody_does(browser, call):
    in_zone(browser, "UTC")
    newest = {"time": "2026-11-03T11:00:00Z", "leader": 1, "epoch": 7, "gap_ms": 3}

    def since(cluster, change, leaderless=None):
        made = call(SINCE, cluster, {"changes": [change] if change else []}, leaderless, NOON)
        return made.replace("\N{NO-BREAK SPACE}", " ")

    led = told("fff")
    assert since(led, newest) == "Since 11:00:00, for 1 h 0 min."
    # Whom a node finds in office when it starts has led for longer, unless it is that node itself.
    assert since(led, {**newest, "gap_ms": None}) == "Since 11:00:00 or before, for 1 h 0 min."
    own = {**led, "leader": 2}
    assert since(own, {**newest, "leader": 2, "gap_ms": None}) == "Since 11:00:00, for 1 h 0 min."
    assert since(led, {**newest, "epoch": 6}) == "Since when was not seen here."
    assert since(led, None) == "Since when was not seen here."
    lost = since(told("---"), newest, "2026-11-02T11:59:59Z")
    assert lost == "Since 2026-11-02 11:59:59, for 24 h 0 min."


def test_what_is_not_answered_is_said_in_words_of_its_own(browser, call):
    in_zone(browser, "UTC")

    def silence(node=2, heard="2026-11-03T11:00:00Z", path=None, status=None):
        asked = {"node": node, "host": "h:80", "heard": heard, "opened": "2026-11-03T10:00:00Z"}
        asked |= {"path": path, "status": status}
        made = call("silence(arguments[0], new Date(arguments[1]))", asked, NOON)
        return made["headline"], made["detail"]

    assert silence() == (
        "Node 2 does not answer",
        "Nothing has been heard from it, at h:80, since 11:00:00. What stands below was true then.",
    )
    assert silence(node=None, heard=None) == (
        "h:80 does not answer",
        "Nothing has been heard from there since this page was opened at 10:00:00.",
    )
    assert silence(path="/cluster", status=503) == (
        "Node 2 cannot say now",
        "It answers /cluster with status 503. Nothing else has been heard from it, at h:80, since "
        "11:00:00. What stands below was true then.",
    )


def test_durations_keep_their_units_beside_them(call):
    shown = [call("duration(arguments[0])", ms) for ms in (0.25, 3.21, 412, 9_600, 61_000, 7.3e6)]
    assert shown == [
        text.replace("_", "\N{NO-BREAK SPACE}")
        for text in ("0.25_ms", "3.2_ms", "412_ms", "9.6_s", "1_min 1_s", "2_h 1_min")
    ]
