"""`bullring address`: what it says at the start, what it clears up, and what it leaves alone."""

import re
import signal
import subprocess

from harness import netns
import pytest
from harness.address import IPV4, IPV6, WATCHER, Hosts, leave_behind
from harness.events import now_ns
from harness.http import ask
from harness.node import find_program
from harness.task import Family, alive, signal_all, wait_family
from harness.waiting import DEADLINE, wait_until

REASON = netns.unavailable()
ADDRESS_LIFETIME_S = 3

pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")


@pytest.fixture
def hosts(new_cluster):
    """Makes hosts on a switch, each with a node that shares the address."""
    made = []

    def make(*arguments, **options):
        made.append(Hosts(*arguments, make=new_cluster, **options))
        return made[-1]

    yield make
    for some in made:
        some.close()


@pytest.fixture
def refused(tmp_path):
    """Runs `bullring address` to its end; returns (exit status, stderr)."""

    def run(*words, prefix=(), peers="1=127.0.0.1:7100"):
        done = subprocess.run(
            [*prefix, find_program(), "address", "--id", "1", "--peers", peers]
            + ["--data-dir", str(tmp_path / "state"), *words],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    return run


@pytest.fixture
def host():
    """One host on a switch."""
    spaces = netns.Bridge([1])
    yield spaces
    spaces.close()


def kill_all_of(node):
    """As at one instant: stopped first, none of them gets to see the death of another."""
    family = wait_family(node)
    node.current.expected_to_run = False
    pids = [family.guard, family.shield, family.command, family.node]
    signal_all(pids, signal.SIGSTOP)
    signal_all(pids)


def lifetime_left(spaces):
    """For how many seconds the kernel keeps the address on host 1, 0 when it has taken it off."""
    shown = spaces.addresses_of(1, "to", IPV4)
    return int(re.search(r"valid_lft (\d+)sec", shown)[1]) if shown else 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--dev", "lo"], "--address: it is missing; expected ADDRESS/PREFIX, like 10.0.0.9/24"),
        (["10.0.0.9/24"], "--dev: it is missing; expected the name of a network interface"),
        (["10.0.0.9", "--dev", "lo"], '"10.0.0.9" has no prefix length'),
        (["ten/24", "--dev", "lo"], '"ten/24" is not an IP address'),
        (["10.0.0.9/33", "--dev", "lo"], "expected 1 … 32 after the slash"),
        (["127.0.0.9/8", "--dev", "lo"], "is a loopback address"),
        (["224.0.0.9/8", "--dev", "lo"], "is a multicast address"),
        (["10.0.0.9/24", "10.0.0.9/32", "--dev", "lo"], '"10.0.0.9/32" is given twice'),
        (["10.0.0.9/24", "--dev", "a/b"], '"a/b" is not the name of a network interface'),
        (["127.0.0.1/24", "--dev", "lo"], "loopback"),
        (["10.0.0.9/24", "--address", "10.0.0.8/24", "--dev", "lo"], "--address is given, too"),
        (["10.0.0.9/24", "--dev", "lo", "--", "job"], '"job" is not an IP address'),
        (["10.0.0.9/24", "--dev", "lo", "--on-exit", "stay"], 'address has no flag "--on-exit"'),
        (["10.0.0.9/24", "--dev", "lo", "--kill-after", "1s"], "address has no flag"),
        (["10.0.0.9/24", "--dev", "lo", "--quorum", "none"], "address can't be used with none"),
    ],
)
def test_what_is_wrong_is_told_and_what_would_be_right(refused, words, why):
    status, said = refused(*words)
    assert (status, why in said) == (2, True), said


def test_the_address_of_a_member_is_refused(refused):
    status, said = refused("10.0.0.1/24", "--dev", "lo", peers="1=10.0.0.1:7100")
    assert status == 2
    assert "the address by which member 1 is reached" in said


def test_a_missing_permission_is_told_before_the_node_joins(refused, host):
    without = [*host.prefix(1), "setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
    status, said = refused(f"{IPV4}/24", "--dev", "eth0", prefix=without)
    assert status == 1
    assert "CAP_NET_ADMIN" in said


def test_an_address_on_another_interface_is_refused(refused, host):
    host.ip(1, "link", "add", "other", "type", "bridge")
    host.ip(1, "addr", "add", f"{IPV4}/32", "dev", "other")
    status, said = refused(f"{IPV4}/24", "--dev", "eth0", prefix=host.prefix(1))
    assert status == 1
    assert f"{IPV4} is on other already" in said
    assert f"ip address del {IPV4}/32 dev other" in said
    host.ip(1, "addr", "del", f"{IPV4}/32", "dev", "other")  # which says so if it is not there


@pytest.fixture
def start_holder(spawn, host, tmp_path):
    def start(address, device):
        return spawn(
            [*host.prefix(1), find_program(), "address", "--id", "1", "--peers", "1=127.0.0.1:7100"]
            + ["--data-dir", str(tmp_path / "state"), address, "--dev", device],
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_ipv6_that_is_not_enabled_yet_is_waited_for(start_holder, host, tmp_path):
    disabled = "/proc/sys/net/ipv6/conf/eth0/disable_ipv6"
    host.write(1, disabled, "1")
    goes_on = start_holder(f"{IPV6}/64", "eth0")
    line = goes_on.stderr.readline()
    assert "IPv6 is disabled" in line and "waiting for that to change" in line
    host.write(1, disabled, "0")
    wait_until((tmp_path / "state" / "lock").exists, "the node starts")
    goes_on.terminate()
    goes_on.wait(timeout=DEADLINE)


def test_an_interface_that_is_not_there_yet_is_waited_for(start_holder, host, tmp_path):
    def start():
        return start_holder(f"{IPV4}/24", "later")

    ended = start()
    assert 'no network interface "later"; there is' in ended.stderr.readline()
    ended.terminate()
    assert ended.wait(timeout=DEADLINE) == 0
    goes_on = start()
    assert "waiting for that to change" in goes_on.stderr.readline()
    host.ip(1, "link", "add", "later", "type", "bridge")
    host.ip(1, "link", "set", "later", "up")
    wait_until((tmp_path / "state" / "lock").exists, "the node starts")
    goes_on.terminate()
    goes_on.wait(timeout=DEADLINE)


def test_an_address_that_an_earlier_run_left_is_taken_off(hosts):
    alone = hosts(1)
    node = alone.cluster[1].start()
    alone.wait_held()
    kill_all_of(node)
    node.wait_exit()
    assert IPV4 in alone.spaces.addresses_of(1)
    # It does not lead: nothing else takes the address off.
    node.start(["--priority", "never"])
    told = f"took {IPV4}/24 off eth0, where an earlier run left it"
    alone.wait_for(lambda: told in node.current.log(), "it says so")
    assert IPV4 not in alone.spaces.addresses_of(1)


def test_other_addresses_stay_when_what_an_earlier_run_left_goes(hosts):
    """Though it may be the first of its network, and on another interface."""
    alone = hosts(1)
    spaces = alone.spaces
    spaces.ip(1, "link", "add", "old0", "type", "veth", "peer", "name", "old1")
    spaces.write(1, "/proc/sys/net/ipv4/conf/eth0/promote_secondaries", "0")
    leave_behind(spaces, 1, f"{IPV4}/25", "eth0")
    leave_behind(spaces, 1, f"{IPV4}/32", "old0")
    spaces.ip(1, "addr", "add", "10.99.0.5/25", "dev", "eth0")
    node = alone.cluster[1].start(["--priority", "never"])
    for told in (f"took {IPV4}/25 off eth0", f"took {IPV4}/32 off old0"):
        alone.wait_for(lambda told=told: told in node.current.log(), "it says so")
    shown = spaces.addresses_of(1)
    assert IPV4 not in shown
    assert "10.99.0.5/25" in shown and spaces.addresses[1] in shown


@pytest.mark.parametrize("address", [f"{IPV4}/24", f"{IPV4}/25", f"{IPV6}/64"])
@pytest.mark.parametrize("lifetime", [[], ["valid_lft", "3600", "preferred_lft", "3600"]])
def test_an_address_of_the_host_itself_is_left_where_it_is(refused, host, address, lifetime):
    """It may be the one by which the host is reached."""
    host.ip(1, "addr", "add", address, "dev", "eth0", *lifetime)
    bare = address.split("/")[0]
    held = f"{bare}/{64 if ':' in address else 24}"
    status, said = refused(held, "--dev", "eth0", prefix=host.prefix(1))
    assert status == 1
    assert f"{bare} is on eth0 already" in said and f"ip address del {address} dev eth0" in said
    assert f"{address} " in host.addresses_of(1)


def test_an_address_that_the_host_gets_later_is_left_to_it(hosts):
    some = hosts(held=[f"{IPV4}/24", f"{IPV6}/64"])
    some.cluster.start()
    old = some.wait_held()
    others = [node for node in some.cluster if node is not old]
    for node in others:
        some.spaces.ip(node.id, "addr", "add", f"{IPV6}/64", "dev", "eth0", "nodad")
    old.stop()
    told = "it is on the interface already, and bullring has not put it there"
    some.wait_for(
        lambda: any(told in node.current.log() for node in others), "one is elected and says so"
    )
    for node in others:
        assert f"{IPV6}/64" in some.spaces.addresses_of(node.id)
        some.wait_for(
            lambda node=node: IPV4 not in some.spaces.addresses_of(node.id),
            "what it has put on is gone",
        )


@pytest.mark.parametrize("device", ["eth0", "lo"])
def test_one_with_another_prefix_length_or_elsewhere_is_left_to_it_too(hosts, device):
    some = hosts()
    some.cluster.start()
    old = some.wait_held()
    others = [node for node in some.cluster if node is not old]
    for node in others:
        some.spaces.ip(node.id, "addr", "add", f"{IPV4}/32", "dev", device)
    told = "it is on the interface already, and bullring has not put it there"
    old.stop()
    # Without the watch, which takes the others' own for the one that is shared.
    some.cluster.wait_for(
        lambda: any(told in node.current.log() for node in others), "one is elected and says so"
    )


def rename(spaces, node_id):
    spaces.ip(node_id, "link", "set", "eth0", "name", "eth9")


def replace(spaces, node_id):
    """By another one of the same name, on which the address can be put as well."""
    spaces.ip(node_id, "link", "add", "eth8", "type", "veth", "peer", "name", "eth7")
    spaces.ip(node_id, "link", "set", "eth7", "up")
    rename(spaces, node_id)
    spaces.ip(node_id, "link", "set", "eth8", "name", "eth0")
    spaces.ip(node_id, "link", "set", "eth0", "up")


@pytest.mark.parametrize("change", [rename, replace])
def test_an_address_goes_with_its_interface_whatever_it_is_called(hosts, change):
    some = hosts()
    some.cluster.start()
    old = some.wait_held()
    change(some.spaces, old.id)
    some.wait_for(lambda: some.watch.held not in ([], [old.id]), "another host has the address")
    assert IPV4 not in some.spaces.addresses_of(old.id)


def test_the_kernel_takes_the_address_off_when_nobody_is_left(hosts):
    alone = hosts(1)
    node = alone.cluster[1].start()
    alone.wait_held()
    kill_all_of(node)
    # Nobody prolongs it any more, and when it is over the kernel has taken it off.
    assert lifetime_left(alone.spaces) <= ADDRESS_LIFETIME_S
    alone.wait_for(lambda: lifetime_left(alone.spaces) == 0, "the kernel takes it off")


def test_sigterm_takes_the_address_off_and_ends_with_0(hosts):
    alone = hosts(1)
    node = alone.cluster[1].start()
    alone.wait_held()
    assert node.stop() == 0
    assert IPV4 not in alone.spaces.addresses_of(1)


def test_an_address_that_somebody_takes_off_comes_back(hosts):
    alone = hosts(1)
    alone.cluster[1].start()
    alone.wait_held()
    since_ns = now_ns()
    alone.spaces.ip(1, "addr", "del", f"{IPV4}/24", "dev", "eth0")

    def is_back():
        return any(one["ns"] > since_ns and one.get("held") == [1] for one in alone.watch.seen)

    alone.wait_for(is_back, "the address is back")


def test_other_addresses_stay(hosts):
    """Also one that the kernel would take off with the first of its network."""
    some = hosts(held=["10.98.0.99/24", f"{IPV6}/64"])
    some.cluster.start()
    leader = some.wait_held()
    some.spaces.ip(leader.id, "addr", "add", "10.98.0.5/24", "dev", "eth0")
    assert "10.98.0.5/24 scope global secondary" in some.spaces.addresses_of(leader.id)
    leader.stop()
    shown = some.spaces.addresses_of(leader.id)
    assert "10.98.0.5/24" in shown
    assert "10.98.0.99" not in shown and IPV6 not in shown
    assert some.spaces.addresses[leader.id] in shown
    assert f"fd99::{leader.id}/64" in shown
    routes = subprocess.run(
        [*some.spaces.prefix(leader.id), "ip", "-6", "route", "show", "fd99::/64"],
        capture_output=True,
        text=True,
    ).stdout
    assert "fd99::/64" in routes and "expires" not in routes


def test_ipv6_is_usable_at_once_and_announced(hosts):
    some = hosts(held=[f"{IPV6}/64"])
    some.cluster.start()
    leader = some.wait_held()
    shown = some.spaces.addresses_of(leader.id)
    line = next(line for line in shown.splitlines() if IPV6 in line)
    # Never the source of what the host sends by itself.
    assert "deprecated" in line and "tentative" not in line
    some.watch.forget()
    at_ns = leader.kill()
    assert some.wait_taken_over(leader, at_ns) < 1000


def test_several_addresses_move_together(hosts):
    some = hosts(held=[f"{IPV4}/24", "10.99.0.98/32", f"{IPV6}/64"])
    some.cluster.start()
    old = some.wait_held()
    old.crash()
    new = some.wait_for(
        lambda: next((node for node in some.cluster if node.leads), None), "another one leads"
    )

    def has_all():
        shown = some.spaces.addresses_of(new.id)
        return all(text in shown for text in (f"{IPV4}/24", "10.99.0.98/32", f"{IPV6}/64"))

    some.wait_for(has_all, "all addresses have moved")
    shown = some.spaces.addresses_of(old.id)
    assert not any(text in shown for text in (IPV4, "10.99.0.98", IPV6))


def test_a_node_whose_interface_is_down_does_not_stand(hosts):
    some = hosts(flags=["--preempt", "--preempt-delay", "100ms"])
    some.spaces.ip(3, "link", "add", "vip0", "type", "veth", "peer", "name", "vip1")
    some.spaces.ip(3, "link", "set", "vip1", "up")
    some.cluster[3].held = [f"{IPV4}/32", "--dev", "vip0"]
    some.cluster.start()
    leader = some.wait_held()
    assert leader.id != 3
    status = some.cluster.status(prefix=some.spaces.prefix(WATCHER))
    why = next(node for node in status["nodes"] if node["id"] == 3)["why"]
    assert why.endswith("does not stand: vip0 is down")
    some.spaces.ip(3, "link", "set", "vip0", "up")
    some.wait_for(lambda: some.watch.held == [3], "the best node takes over")
    some.spaces.ip(3, "link", "set", "vip0", "down")
    some.wait_for(lambda: some.watch.held not in ([], [3]), "another one takes over")


def test_a_host_that_answers_for_the_address_is_told_of(hosts):
    alone = hosts(1)
    alone.spaces.ip(WATCHER, "addr", "add", f"{IPV4}/32", "dev", "eth0")
    node = alone.cluster[1].start()
    alone.wait_for(lambda: f"{IPV4} is answered for by" in node.current.log(), "it says so")
    assert "one without bullring, or a member that has not taken it off" in node.current.log()


def test_a_second_card_in_the_same_network_is_no_other_host(hosts):
    """It answers for all addresses of its host; another host is told of all the same."""
    alone = hosts(1)
    alone.spaces.add_card(1, "eth1")
    alone.spaces.ip(WATCHER, "addr", "add", f"{IPV4}/32", "dev", "eth0")
    node = alone.cluster[1].start()
    told = f"{IPV4} is answered for by"
    theirs = alone.spaces.hardware_address(WATCHER, "eth0")
    alone.wait_for(lambda: f"{told} {theirs}" in node.current.log(), "the other host is told of")
    assert f"{told} {alone.spaces.hardware_address(1, 'eth1')}" not in node.current.log()


def test_an_interface_may_go_by_an_alternative_name(hosts):
    alone = hosts(1, held=[f"{IPV4}/24", f"{IPV6}/64"])
    alone.spaces.ip(1, "link", "property", "add", "dev", "eth0", "altname", "uplink")
    node = alone.cluster[1]
    node.held[-1] = "uplink"
    node.start()
    alone.wait_held()
    lines = node.current.log().splitlines()
    wrong = [line for line in lines if re.search(" (warn|error) ", line)]
    assert all("security none" in line for line in wrong), wrong
    assert node.stop() == 0
    assert not any(text in alone.spaces.addresses_of(1) for text in (IPV4, IPV6))


def test_nothing_is_left_of_a_killed_node(hosts):
    some = hosts()
    some.cluster.start()
    leader = some.wait_held()
    family = wait_family(leader)
    leader.crash()
    below = (family.guard, family.shield, family.command)
    wait_until(lambda: not any(map(alive, below)), "the end of its processes")
    assert IPV4 not in some.spaces.addresses_of(leader.id)


def test_a_holder_that_is_killed_again_and_again_is_waited_for_no_longer(hosts):
    """Where the same has just happened to all others nobody would have the address meanwhile."""
    alone = hosts(1)
    node = alone.cluster[1].start()
    killed = ["command", "guard", "command", "shield", "command"]
    before = None

    def held_anew():
        family = Family(node)
        return family if family.complete and family.command != before else None

    for member in killed:
        family = alone.wait_for(held_anew, "the address is held anew")
        before = family.command
        signal_all([getattr(family, member)])
    alone.wait_for(held_anew, "the address is held anew")
    waits = [line for line in node.current.log().splitlines() if "stands again after" in line]
    assert len(waits) == len(killed), waits
    assert all(line.endswith("stands again after 100ms") for line in waits), waits


def test_hooks_and_the_configuration_file(hosts, tmp_path):
    alone = hosts(1)
    node = alone.cluster[1]
    config = tmp_path / "address.toml"
    seen = tmp_path / "seen"
    config.write_text(
        f'address = ["{IPV4}/24"]\ndev = "eth0"\non-elected = "echo elected >> {seen}"\n'
    )
    node.held = ["--config", str(config)]
    node.start()
    alone.wait_held()
    alone.wait_for(lambda: seen.exists() and "elected" in seen.read_text(), "the hook has run")


def test_an_address_is_the_task_of_the_metrics(hosts, tmp_path):
    alone = hosts(1)
    node = alone.cluster[1]
    path = tmp_path / "http.sock"
    node.flags = ["--http", f"unix:{path}"]

    def tells(running):
        lines = ask(path, "/metrics").body.splitlines()
        told = [line for line in lines if line.startswith("bullring_task_running")]
        return len(told) == 1 and told[0].endswith(f" {running}")

    node.start()
    alone.wait_held()
    alone.wait_for(lambda: tells(1), "the address is told")
    alone.spaces.carrier(1, False)
    alone.wait_for(lambda: tells(0), "its end is told")
