"""The state directory: corrupt, foreign, taken, unwritable, full, failing. Never a fresh start."""

import fcntl
import os
import re
import shutil
import subprocess

import pytest
from harness.http import ask
from harness.node import find_program
from harness.waiting import DEADLINE


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this to a directory")


@pytest.fixture
def one(new_cluster):
    """A cluster of one, not started."""
    return new_cluster(1)


@pytest.fixture
def used(one):
    """The state file of a cluster of one that was killed while it led."""
    one.start().wait_settled()
    one[1].crash()
    return one[1].data_dir / "state"


def assert_refused(one, extra=()):
    """The node ends by itself with a failure, and has not led."""
    node = one[1].start(extra)
    node.current.expected_to_run = False
    assert node.wait_exit() == 1, node.current.log()
    assert not node.current.stream.of("elected")


def assert_sound(one):
    """The node leads from its state as it is."""
    one.start().wait_settled()


@pytest.mark.parametrize("flag", ["events", "trace", "http"])
@pytest.mark.parametrize("name", ["state", "lock"])
def test_no_stream_is_written_over_it(one, used, tmp_path, flag, name):
    link = tmp_path / "link"
    link.symlink_to(used.parent / name)

    def files():
        return {path.name: path.read_bytes() for path in used.parent.iterdir() if path.is_file()}

    before = files()
    value = f"unix:{link}" if flag == "http" else str(link)
    words = ["node", "--id", "1", "--peers", one.peers, "--data-dir", used.parent, f"--{flag}"]
    done = subprocess.run([find_program(), *words, value], capture_output=True, text=True)
    assert done.returncode == 2 and str(link) in done.stderr, done.stderr
    assert files() == before
    assert_sound(one)


def test_no_link_in_it_is_followed(one, used, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    lock = used.parent / "lock"
    lock.unlink()
    lock.symlink_to(theirs)
    assert_refused(one)
    assert str(lock) in one[1].current.log()
    assert theirs.read_text() == "theirs"
    lock.unlink()
    assert_sound(one)


@pytest.mark.parametrize("place", [0, 1, 1 / 3, 1 / 2, -1])
def test_a_corrupted_byte_is_noticed(one, used, place):
    broken = bytearray(used.read_bytes())
    broken[int(place * len(broken)) if 0 < place < 1 else place] ^= 0x41
    used.write_bytes(broken)
    assert_refused(one)
    assert used.read_bytes() == broken, "it is left for the operator"


def test_another_cluster(one, used):
    assert_refused(one, ["--cluster", "other"])
    assert_sound(one)


def test_the_list_of_members_in_the_state_holds(one, used):
    other = f"{one.peers},8=127.0.0.1:{one.ports.take()}"
    node = one[1].start(["--peers", other])
    one.wait_settled()
    said = "peers has the members 1, 8, and the list in the state file holds, which has 1"
    assert node.current.log().count(said) == 1
    answer = one.status()["nodes"]
    assert [(member["id"], member["members_tag"]) for member in answer] == [(1, "0.0")]


def test_in_use_by_another_process(one, new_cluster):
    one.start().wait_settled()
    second = new_cluster(1)
    second[1].data_dir = one[1].data_dir
    second[1].start(["--events", str(second.directory / "events")])
    second[1].current.expected_to_run = False
    assert second[1].wait_exit() == 1
    assert one[1].leads


def test_what_somebody_removes_is_there_again(one):
    """As what cleans up old files does. Other processes are refused in the meantime, too."""
    node = one.start().wait_settled()
    one.wait_its_id()
    state = node.data_dir / "state"
    before = state.read_bytes()
    for name in ("state", "lock", "lead.sock", "control.sock"):
        (node.data_dir / name).unlink()
    second = subprocess.run(
        [one.program, "node", "--id", "1", "--peers", f"1=127.0.0.1:{one.ports.take()}"]
        + ["--data-dir", str(node.data_dir)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert second.returncode == 1 and "is in use by" in second.stderr, second
    for name in ("state", "lock", "lead.sock", "control.sock"):
        one.wait_for(lambda name=name: (node.data_dir / name).exists(), f"{name} is there again")
    for name in ("state", "lock", "lead.sock", "control.sock"):
        told = rf"removed (the file )?{name} from .*; it is there again"
        one.wait_for(lambda told=told: re.search(told, node.current.log()), f"{name} is told of")
    assert state.read_bytes() == before
    words = ["lead", "--data-dir", str(node.data_dir), "--", "true"]
    assert subprocess.run([one.program, *words], timeout=DEADLINE).returncode == 0
    assert one.wait_settled() is node and len(node.current.stream.of("elected")) == 1
    words = ["resign", "--local", "--data-dir", str(node.data_dir), "--timeout", "1s"]
    done = subprocess.run([one.program, *words], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 1 and "no other member ever leads" in done.stderr, done


def test_a_lock_file_that_is_removed_is_locked_again(one):
    node = one.start().wait_settled()
    (node.data_dir / "lock").unlink()
    told = "removed the file lock from the data directory; it is there again"
    one.wait_for(lambda: told in node.current.log(), "it is told of")
    pid = str(node.current.process.pid)
    assert (node.data_dir / "lock").read_text().strip() == pid
    with open(node.data_dir / "lock") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.fixture
def mounted():
    """Mounts a volume over a directory, an empty one or another; nothing stays mounted."""
    places = []

    def mount(directory, *what):
        words = ["mount", *(what or ["-t", "tmpfs", "tmpfs"]), str(directory)]
        if subprocess.run(words, capture_output=True, timeout=DEADLINE).returncode:
            pytest.skip("no tmpfs can be mounted here")
        places.append(directory)

    def unmount(directory):
        places.remove(directory)
        subprocess.run(["umount", "--lazy", str(directory)], check=True, timeout=DEADLINE)

    mount.undo = unmount
    yield mount
    for place in list(places):
        unmount(place)


def lead(one):
    words = ["lead", "--data-dir", str(one[1].data_dir), "--", "true"]
    return subprocess.run([one.program, *words], capture_output=True, text=True, timeout=DEADLINE)


MISPLACED = "leads to another directory than at this node's start"


def assert_whole(one, node):
    assert one.status()["nodes"][0]["why"].startswith("leads with")
    assert ask(node.http, "/readyz").status == 200
    assert lead(one).returncode == 0


def assert_misplaced(one, node):
    one.wait_for(lambda: MISPLACED in node.current.log(), "it is told of")
    one.wait_for(lambda: ask(node.http, "/readyz").status == 503, "it is not ready")
    assert MISPLACED in ask(node.http, "/readyz").json["why"]
    assert MISPLACED in one.status()["nodes"][0]["why"]
    assert node.leads
    one.wait_for(lambda: (node.data_dir / "lead.sock").exists(), "it can be spoken to")
    refused = lead(one)
    assert refused.returncode == 69 and "starts no command" in refused.stderr, refused


@pytest.fixture
def served(one, ports):
    one[1].http = ports.take()
    one[1].flags += ["--http", f"127.0.0.1:{one[1].http}"]
    one.start()
    return one.wait_settled()


@ROOT_ONLY
def test_a_volume_over_the_directory_is_told_of(one, served, mounted):
    node = served
    mounted(node.data_dir)
    assert_misplaced(one, node)
    # A start would not forget what this one has promised.
    kept = (node.data_dir / "state").read_bytes()
    second = subprocess.run(
        node.command(), capture_output=True, text=True, env=one.environment, timeout=DEADLINE
    )
    assert second.returncode == 1 and "is in use by" in second.stderr, second
    mounted.undo(node.data_dir)
    one.wait_for(lambda: ask(node.http, "/readyz").status == 200, "it is ready again")
    assert_whole(one, node)
    assert (node.data_dir / "state").read_bytes() == kept
    assert len(node.current.stream.of("elected")) == 1


def test_a_directory_that_is_moved_is_made_again(one, served, tmp_path):
    node = served
    node.data_dir.rename(tmp_path / "moved")
    assert_misplaced(one, node)
    assert (node.data_dir / "state").read_bytes() == (tmp_path / "moved" / "state").read_bytes()
    node.kill()
    node.restart()
    one.wait_settled()
    assert_whole(one, node)


@ROOT_ONLY
def test_a_volume_with_another_state_is_left_alone(one, served, mounted, tmp_path):
    node = served
    filled = tmp_path / "filled"
    filled.mkdir()
    (filled / "state").write_text("of another node")
    mounted(node.data_dir, "--bind", str(filled))
    told = "a start would not go on with this node's state"
    one.wait_for(lambda: told in node.current.log(), "it is told of")
    mounted(tmp_path)  # what is mounted elsewhere concerns nobody
    assert (node.data_dir / "state").read_text() == "of another node"
    assert not (node.data_dir / "control.sock").exists()
    assert ask(node.http, "/readyz").status == 503 and node.leads
    mounted.undo(node.data_dir)
    one.wait_for(lambda: ask(node.http, "/readyz").status == 200, "it is ready again")
    assert_whole(one, node)


def test_the_directory_is_made_with_its_parents(one):
    directory = one.directory / "a" / "b" / "c"
    one[1].start(["--data-dir", str(directory)])
    one.wait_leader()
    assert (directory / "state").exists()


def test_a_file_where_the_directory_should_be(one):
    one[1].data_dir.write_text("not a directory")
    assert_refused(one)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_directory(one):
    one[1].data_dir.mkdir(mode=0o500)
    assert_refused(one)


def test_a_directory_that_no_one_can_write(one):
    assert_refused(one, ["--data-dir", "/proc/bullring"])


def strace_works():
    tried = subprocess.run(
        ["strace", "-o", "/dev/null", "true"], capture_output=True, timeout=DEADLINE
    )
    return tried.returncode == 0


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_a_failed_fsync_ends_the_process(one):
    if not strace_works():
        pytest.skip("strace may not trace here")
    one[1].prefix = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]
    one[1].prefix += ["-e", "inject=fsync,fdatasync:error=EIO"]
    assert_refused(one)


@ROOT_ONLY
def test_a_full_disk_ends_the_process(one):
    directory = one[1].data_dir
    directory.mkdir()
    mount = 'mount -t tmpfs -o size=16k tmpfs "$0"'
    if subprocess.run(["unshare", "-m", "sh", "-c", mount, directory], timeout=DEADLINE).returncode:
        pytest.skip("no tmpfs can be mounted here")
    fill = 'head -c 1000000 /dev/zero > "$0/filling" 2>/dev/null'
    script = f'{mount} && {{ {fill}; exec "$@"; }}'
    one[1].prefix = ["unshare", "-m", "sh", "-c", script, str(directory)]
    assert_refused(one)


@ROOT_ONLY
def test_a_directory_is_locked_without_proc(new_cluster):
    """As in a chroot where nobody has mounted it."""
    cluster = new_cluster(1)
    hides_proc = 'mount -t tmpfs none /proc && exec "$0" "$@"'
    cluster[1].prefix = ["unshare", "--mount", "sh", "-c", hides_proc]
    cluster.start().wait_leader()
    # Its socket is there, too.
    change = ["member", "add", "2=127.0.0.1:9", "--local", "--data-dir", cluster[1].data_dir]
    added = subprocess.run([cluster.program, *change], capture_output=True, text=True)
    assert added.returncode == 0, added.stderr
    second = cluster.command("node", "--id", "1", "--data-dir", cluster[1].data_dir)
    assert (second.returncode, "is in use by process" in second.stderr) == (1, True), second.stderr
