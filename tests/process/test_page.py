"""The page in a real browser: it shows who leads, and a change of leader while one looks at it; and
in each state, at each size, it can be read.
"""

import os
import re
import statistics
import time
import urllib.request

import pytest
from harness.events import now_ns
from harness.http import ask
from page_looks import LOOKS, faults, look
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = [pytest.mark.busy, pytest.mark.limit(180)]
DEADLINE = 60


ASKS_EVERY_MS = 2000  # src/http/page/page.js, where no event comes


@pytest.fixture
def cluster(new_cluster, ports):
    # A browser keeps both cores of a small machine busy.
    cluster = new_cluster(3, profile="cloud", flags=["--no-preempt"])
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}", "--advertise", f"db{node.id}:5432"]
    cluster.start().wait_settled()
    return cluster


def text(browser, element):
    return browser.find_element(By.ID, element).text


def wait_until(browser, predicate):
    WebDriverWait(browser, DEADLINE, poll_frequency=0.02).until(lambda _: predicate())


def cells(browser, table):
    """Its rows, read at once: the page replaces them when it likes."""
    return browser.execute_script(
        "return [...document.getElementById(arguments[0]).tBodies[0].rows]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText));",
        table,
    )


def changes(browser):
    """The texts of each row of the list of changes, column by column."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#changes summary')]"
        ".map((row) => [...row.children].map((one) => one.lastChild.textContent));"
    )


def roles(browser):
    return {int(row[0].split()[0]): row[1] for row in cells(browser, "members")}


def state(browser):
    """The colour of the banner, by its name."""
    return browser.find_element(By.ID, "verdict").get_attribute("class").split()[1]


def keep(browser, name):
    """For eyes: BULLRING_SCREENSHOTS=DIRECTORY has the pictures kept."""
    if directory := os.environ.get("BULLRING_SCREENSHOTS"):
        browser.save_screenshot(f"{directory}/{name}.png")


def test_it_shows_who_leads_and_who_takes_over(cluster, browser):
    leader = cluster.leader()
    looker = next(node for node in cluster if node is not leader)
    browser.get(f"http://127.0.0.1:{looker.http}/")
    wait_until(browser, lambda: "3 of 3 members follow" in text(browser, "detail"))
    assert text(browser, "headline") == f"Node {leader.id} leads"
    assert re.match(r"Since .*\d\d:\d\d:\d\d.*, for .* m?s\.$", text(browser, "since"))
    assert text(browser, "risk") == "All is well."
    assert f"db{leader.id}:5432" in text(browser, "detail")
    assert text(browser, "epoch") == str(leader.view[1])
    assert roles(browser) == {
        node.id: "leader" if node is leader else "follower" for node in cluster
    }
    links = [row[1:] for row in cells(browser, "links")]
    assert links == [["" if i == j else "●" for j in range(3)] for i in range(3)]
    keep(browser, "page-led")

    leader.kill()
    successor = cluster.wait_settled()
    wait_until(browser, lambda: text(browser, "headline") == f"Node {successor.id} leads")
    wait_until(browser, lambda: "2 of 3 members answer" in text(browser, "detail"))
    wait_until(browser, lambda: roles(browser)[leader.id] == "unreachable")
    wait_until(browser, lambda: changes(browser)[0][1] == f"node {successor.id}")
    assert changes(browser)[0][2] == "died"
    assert changes(browser)[1][2:] == ["first", "–"]
    assert f"Node {leader.id}: does not answer" in text(browser, "troubles")
    keep(browser, "page-after")

    looker.kill()
    wait_until(browser, lambda: "does not answer" in text(browser, "headline"))
    keep(browser, "page-alone")


def test_a_change_of_leader_is_on_the_page_before_it_asks_again(cluster, browser):
    """The page itself notes when it shows the next leader: no polling of ours is in between."""
    looker = cluster[1]
    browser.get(f"http://127.0.0.1:{looker.http}/")
    took_ms = []
    for _ in range(5):
        leader = cluster.wait_settled()
        shown = f"Node {leader.id} leads"
        wait_until(browser, lambda shown=shown: text(browser, "headline") == shown)
        browser.execute_script(
            "window.heard = null; const before = arguments[0];"
            "const headline = document.getElementById('headline');"
            "new MutationObserver(() => {"
            "  const text = headline.textContent;"
            "  if (/leads/.test(text) && text !== before && !window.heard)"
            "    window.heard = Date.now();"
            "}).observe(headline, {childList: true});",
            shown,
        )
        killed_ns = leader.kill()
        elected_ns = cluster.wait_elected(killed_ns)["ts_ns"]
        elected_wall_ms = time.time() * 1e3 - (now_ns() - elected_ns) / 1e6
        cluster.wait_settled()
        heard = "return window.heard"
        wait_until(browser, lambda heard=heard: browser.execute_script(heard))
        took_ms.append(browser.execute_script(heard) - elected_wall_ms)
        leader.restart()
    print(f"from the election to the page, in ms: {[round(ms) for ms in took_ms]}")
    assert statistics.median(took_ms) < ASKS_EVERY_MS / 2


def test_a_node_that_was_started_anew_has_pictures_of_its_own(cluster, browser):
    leader = cluster.leader()
    looker = next(node for node in cluster if node is not leader)
    source = "return document.querySelector('#diagrams figure:has(svg)')?.dataset.mark"
    browser.get(f"http://127.0.0.1:{looker.http}/")
    wait_until(browser, lambda: browser.execute_script(source))
    before = browser.execute_script(source)
    looker.kill()
    looker.restart()
    wait_until(browser, lambda: browser.execute_script(source) not in (None, before))
    wait_until(browser, lambda: text(browser, "seen").startswith("live"))


def test_a_page_that_was_refused_a_stream_gets_one_when_there_is_room(cluster, browser):
    node = cluster.leader()
    url = f"http://127.0.0.1:{node.http}/"
    streams = [urllib.request.urlopen(url + "events") for _ in range(16)]
    browser.get(url)
    wait_until(browser, lambda: text(browser, "seen").startswith("not live"))
    for stream in streams:
        stream.close()
    wait_until(browser, lambda: text(browser, "seen").startswith("live"))


def test_a_loss_of_the_majority_is_seen(cluster, browser):
    leader = cluster.leader()
    browser.get(f"http://127.0.0.1:{leader.http}/")
    wait_until(browser, lambda: "leads" in text(browser, "headline"))
    for node in cluster:
        if node is not leader:
            node.kill()
    wait_until(browser, lambda: text(browser, "headline") == "No leader known here")
    wait_until(browser, lambda: "hears 1 of 3" in text(browser, "troubles"))
    assert text(browser, "risk") == "No majority answers."
    assert text(browser, "remedy").startswith("What to do: Start the others")
    keep(browser, "page-no-leader")
    refused = [line for line in browser.get_log("browser") if "Content Security" in line["message"]]
    assert refused == []


# ---- In each state, at each size.


def kill(node):
    node.crash()


PICTURES_ARE_THERE = """
const figures = [...document.querySelectorAll('#pictures figure')];
return figures.length > 1 && figures.every((one) => one.querySelector('svg text'));
"""


class Scene:
    """A cluster, somebody who looks at one of its followers, and what then happens."""

    def __init__(self, cluster, browser, spawn):
        self.cluster, self.browser, self.spawn = cluster, browser, spawn
        self.leader = cluster.leader()
        self.looker, self.other = [node for node in cluster if node is not self.leader]
        browser.get(f"http://127.0.0.1:{self.looker.http}/")
        wait_until(browser, lambda: "3 of 3 members follow" in text(browser, "detail"))
        # Pictures that are not drawn yet can't be had from a node that is dead.
        wait_until(browser, lambda: browser.execute_script(PICTURES_ARE_THERE))

    def led(self):
        return "led", "3 of 3 members follow it"

    def another_node_dead(self):
        kill(self.other)
        return "fragile", (
            "One more loss and nobody can lead: 2 of 3 members take part, and 2 are needed."
        )

    def leaderless(self):
        for node in (self.other, self.leader):
            kill(node)
        return (
            "leaderless",
            r"Since \d\d:\d\d:\d\d, for (.|\n)*1 of 3 members answer this node, which is no",
        )

    def this_node_dead(self):
        kill(self.looker)
        return "unknown", self.unheard()

    def this_node_hung(self):
        self.looker.hang()
        return "unknown", self.unheard()

    def unheard(self):
        return (
            rf"Nothing has been heard from it, at 127\.0\.0\.1:{self.looker.http}, "
            r"since \d\d:\d\d:\d\d\. What stands below was true then\."
        )

    def a_node_of_another_cluster(self):
        kill(self.other)
        peers = ["--peers", self.cluster.peers, "--cluster", "green", "--bootstrap-wait", "1h"]
        place = ["--data-dir", f"{self.other.data_dir}.green"]
        self.spawn(
            [self.cluster.program, "node", "--id", str(self.other.id), *peers, *place],
            env=self.cluster.environment,
        )
        wait_until(
            self.browser,
            lambda: 'it refuses: cluster is "green" there, "bullring" here'
            in self.browser.find_element(By.ID, "members").text,
        )
        return "fragile", "One more loss and nobody can lead"


@pytest.mark.parametrize(
    "happens",
    [
        Scene.led,
        Scene.another_node_dead,
        Scene.leaderless,
        Scene.this_node_dead,
        Scene.this_node_hung,
        Scene.a_node_of_another_cluster,
    ],
    ids=lambda happens: happens.__name__.replace("_", "-"),
)
def test_it_can_be_read_in_each_state_at_each_size(cluster, browser, spawn, happens):
    scene = Scene(cluster, browser, spawn)
    expected, sentence = happens(scene)
    wait_until(
        browser,
        lambda: state(browser) == expected
        and re.search(sentence, browser.find_element(By.ID, "verdict").text),
    )
    for size, colours in LOOKS:
        look(browser, size, colours)
        keep(browser, f"page-{happens.__name__}-{size}-{colours}")
        assert faults(browser) == [], f"{size}, {colours}"
        assert state(browser) == expected
    if happens is Scene.this_node_hung:
        scene.looker.resume()
        wait_until(browser, lambda: state(browser) == "led")


def test_all_that_can_be_followed_or_scrolled_is_reached_by_the_keyboard(cluster, browser):
    browser.get(f"http://127.0.0.1:{cluster[1].http}/")
    wait_until(browser, lambda: "3 of 3 members follow" in text(browser, "detail"))
    wait_until(browser, lambda: browser.execute_script(PICTURES_ARE_THERE))
    active = (
        "const at = document.activeElement; return at.id || at.href || at.ariaLabel || at.className"
    )
    expected = browser.execute_script(
        "return [...document.querySelectorAll('a, summary, .scroll')]"
        ".map((at) => at.id || at.href || at.ariaLabel || at.className)"
    )
    assert len(expected) > 10
    reached = []
    for _ in expected:
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.execute_script(active))
        outline = "return getComputedStyle(document.activeElement).outlineStyle"
        assert browser.execute_script(outline) == "solid"
    assert reached == expected


def test_version_and_priority_of_all_members_are_shown(new_cluster, ports, browser):
    cluster = new_cluster(3, profile="cloud")
    for node, priority in zip(cluster, ("-3", "never", "7")):
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}", "--priority", priority]
    cluster.start().wait_settled()
    browser.get(f"http://127.0.0.1:{cluster[2].http}/")
    wait_until(browser, lambda: len(cells(browser, "members")) == 3)
    version = ask(cluster[2].http, "/status").json["version"]
    assert [(row[6], row[9]) for row in cells(browser, "members")] == [
        ("-3", version),
        ("never", version),
        ("7", version),
    ]
    assert text(browser, "self") == f"node 2, version {version}, priority never"
    told = ask(cluster[2].http, "/cluster").json["nodes"]
    assert [node["priority"] for node in told] == [-3, "never", 7]


# ---- What is done about the work that only a leader does.


def test_a_command_that_fails_reads_so_wherever_it_is_told(new_cluster, ports, browser):
    cluster = new_cluster(3, profile="cloud", flags=["--restart-delay", "1m"])
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
        node.task = ["sh", "-c", "exit 3"]
    cluster.start()
    browser.get(f"http://127.0.0.1:{cluster[1].http}/")
    fails = "he command fails on every node that could lead"
    wait_until(browser, lambda: text(browser, "risk") == f"T{fails}.")
    assert (state(browser), text(browser, "headline")) == ("leaderless", "No leader")
    own = "does not stand: its command has ended (exit 3); it stands again after 60s"
    assert text(browser, "troubles") == f"Nodes 1, 2, 3: {own}"
    assert "see what it has printed" in text(browser, "remedy").lower()
    for row in cells(browser, "members"):
        assert re.match(r"run: ended at \d\d:\d\d:\d\d \(exit 3\)$", row[3])
    for size, colours in LOOKS:
        look(browser, size, colours)
        keep(browser, f"page-failing-{size}-{colours}")
        assert faults(browser) == [], f"{size}, {colours}"

    told = cluster.status()
    assert told["why"] == f"t{fails}"
    assert [node["wrong"] for node in told["nodes"]] == [own] * 3
    assert all(node["task"]["last_end"] == "exit 3" for node in told["nodes"])
    asked = cluster.command("status")
    assert (asked.returncode, "no majority" in asked.stderr) == (1, False)
    assert f"no leader: t{fails}: 3 of 3 members reachable" in asked.stderr
    assert ask(cluster[1].http, "/readyz").json["why"] == own
    assert ask(cluster[1].http, "/leader").json["why"] == own


def test_the_mode_and_the_work_of_each_member_are_shown(new_cluster, ports, journal, browser):
    cluster = new_cluster(3, profile="cloud", flags=["--no-preempt"])
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}", "--priority", str(node.id)]
    for node in (cluster[2], cluster[3]):
        node.task = journal.command()
    leader = cluster.start().wait_settled()
    browser.get(f"http://127.0.0.1:{cluster[1].http}/")

    def works():
        return {int(row[0].split()[0]): row[3] for row in cells(browser, "members")}

    wait_until(browser, lambda: len(works()) == 3)
    if leader.id != 1:
        wait_until(browser, lambda: works()[leader.id].startswith("run: has run for "))
    assert works()[1] == "node"
    assert {works()[node.id] for node in cluster if node.id != 1 and node is not leader} <= {
        "run: stands by"
    }


NINE = """
const newest = Date.now();
history = {watched_ms: 1e6, leaderless_ms: 5, leaderless_since: null, changes: Array.from(
  {length: 9}, (_, n) => ({time: new Date(newest - n * 9e6).toISOString(), leader: 1 + n % 3,
                           epoch: 1731298374655 - n, advertised: 'db.example.org:5432',
                           reason: n % 2 ? 'died' : 'lease_expired', gap_ms: 2194.3 + n}))};
drawHistory();
"""


def test_nine_changes_are_nine_rows_on_a_phone_and_each_can_be_opened(cluster, browser):
    browser.get(f"http://127.0.0.1:{cluster[1].http}/")
    wait_until(browser, lambda: changes(browser))
    # It asks no more, and shows what follows.
    browser.execute_script("asking = true;")
    look(browser, "phone", "light")
    wait_until(browser, lambda: text(browser, "seen").startswith(("live", "not live")))
    browser.execute_script(NINE)
    assert len(changes(browser)) == 9
    heights = browser.execute_script(
        "return [...document.querySelectorAll('#changes li')].map((one) => one.offsetHeight);"
    )
    assert max(heights) < 48 and faults(browser) == []
    keep(browser, "page-nine")
    row = browser.find_elements(By.CSS_SELECTOR, "#changes summary")[2]
    row.send_keys(Keys.ENTER)
    wait_until(browser, lambda: "nobody heard of it any more" in text(browser, "changes"))
    assert "1731298374653" in text(browser, "changes") and faults(browser) == []
    # A row that somebody reads stays open when the list is drawn again.
    browser.execute_script("drawHistory();")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#changes details[open]")) == 1


# ---- The viewer.


def known(browser):
    """The rows that say what each node knew, by the headings."""
    return browser.execute_script(
        "const table = document.getElementById('known');"
        "const names = [...table.tHead.rows[0].cells].map((one) => one.textContent);"
        "return [...table.tBodies[0].rows].map((row) => Object.fromEntries("
        "  [...row.cells].map((one, i) => [names[i], one.textContent])));"
    )


def test_a_failover_is_opened_in_the_viewer_and_stepped_through(cluster, browser):
    leader = cluster.leader()
    leader.kill()
    successor = cluster.wait_settled()
    url = f"http://127.0.0.1:{successor.http}/"
    browser.get(url)
    first = f"#diagrams svg[aria-label*='node {successor.id} became the leader']"
    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, first))
    drawn = browser.find_element(By.CSS_SELECTOR, first).text
    assert f"{leader.id} gone (" in drawn and "elected (" in drawn and "this node" in drawn
    browser.execute_script("document.querySelector(arguments[0]).closest('a').click()", first)
    wait_until(browser, lambda: "/viewer.html?trace=failovers/" in browser.current_url)
    wait_until(browser, lambda: f"node {successor.id} leads" in text(browser, "headline"))
    keep(browser, "viewer")

    said, roles_seen = [], []
    for _ in range(100):
        said.append(text(browser, "what"))
        (row,) = known(browser)
        assert row["Node"] == str(successor.id)
        roles_seen.append(row["Role"])
        if not browser.find_element(By.ID, "forth").is_enabled():
            break
        browser.find_element(By.ID, "forth").click()
    assert roles_seen[-1] == "leads" and "leads" not in roles_seen[:2]
    assert row["Leader"] == "itself"
    assert any("COORDINATOR" in one for one in said), said
    assert len(set(said)) > 4

    picture = browser.find_element(By.ID, "picture")
    picture.send_keys(Keys.HOME)
    assert text(browser, "what") == said[0]
    picture.send_keys(Keys.ARROW_RIGHT)
    assert text(browser, "what") == said[1]
    picture.send_keys(Keys.SPACE)
    wait_until(browser, lambda: text(browser, "what") == said[3])
    picture.send_keys(Keys.SPACE)
    browser.execute_script(
        "const last = [...document.querySelectorAll('#picture [data-k].elected')].pop();"
        "for (const name of ['pointerdown', 'pointerup'])"
        "  last.dispatchEvent(new PointerEvent(name, {bubbles: true}));"
    )
    assert "elected" in text(browser, "what")
    before = browser.execute_script("return document.querySelectorAll('#picture .m').length")
    picture.send_keys(Keys.ENTER)
    after = browser.execute_script("return document.querySelectorAll('#picture .m').length")
    assert 0 < after <= before

    for size, colours in LOOKS:
        look(browser, size, colours)
        keep(browser, f"viewer-{size}-{colours}")
        assert faults(browser) == [], f"{size}, {colours}"
    refused = [line for line in browser.get_log("browser") if "Content Security" in line["message"]]
    assert refused == []


def test_files_of_several_nodes_are_opened_together(new_cluster, ports, browser, tmp_path):
    cluster = new_cluster(3)
    traces = [tmp_path / f"{node.id}.trace" for node in cluster]
    for node, trace in zip(cluster, traces):
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}", "--trace", str(trace)]
    leader = cluster.start().wait_settled()
    killed_ns = leader.kill()
    elected = cluster.wait_elected(killed_ns)
    cluster.wait_settled()
    successor = cluster[elected["node"]]
    browser.get(f"http://127.0.0.1:{successor.http}/viewer.html")
    for node in cluster:
        if node is not leader:
            node.stop()
    picker = browser.find_element(By.ID, "files")
    browser.execute_script("arguments[0].hidden = false", picker)
    picker.send_keys("\n".join(map(str, traces)))
    told = f"node {leader.id} dies, node {successor.id} leads"
    parts = "return [...document.querySelectorAll('#part option')].map((one) => one.textContent)"
    wait_until(browser, lambda: any(told in one for one in browser.execute_script(parts)))
    browser.execute_script(
        "const part = document.getElementById('part');"
        "const named = (one) => one.textContent.includes(arguments[0]);"
        "part.value = [...part.options].find(named).value;"
        "part.dispatchEvent(new Event('change'));",
        told,
    )
    assert told in text(browser, "headline")
    assert {row["Node"] for row in known(browser)} == {"1", "2", "3"}
    picture = browser.find_element(By.ID, "picture")
    picture.send_keys(Keys.END)
    rows = {int(row["Node"]): row for row in known(browser)}
    assert rows[leader.id]["Role"] == "not running"
    assert rows[successor.id]["Role"] == "leads"
    assert rows[successor.id]["Lease left"].endswith("s")
    other = next(node.id for node in cluster if node not in (leader, successor))
    assert rows[other]["Promised to"].startswith(f"{successor.id} (")
    keep(browser, "viewer-files")
