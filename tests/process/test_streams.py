"""stdin, stdout and stderr as a program may find them: missing, or full and read by nobody; and an
event stream that goes to a FIFO.
"""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from harness.node import find_program
from harness.waiting import DEADLINE

ENDS = 10  # what nobody reads may cost a second each for the log and the events


@pytest.fixture
def alone(new_cluster):
    """A cluster of one, whose node the test starts itself."""
    return new_cluster(1, flags=["--kill-after", "300ms"])


@pytest.fixture
def start(alone, spawn):
    """Starts the node with streams of the test's own."""

    def make(flags=(), command=None, **streams):
        alone[1].task = command
        alone.flags = alone.flags if command else []
        missing = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
        words = alone[1].command(flags)
        return spawn(words, env=alone.environment, start_new_session=True, **(missing | streams))

    return make


def wait_until_it_leads(cluster):
    cluster.wait_for(lambda: cluster.status()["leader"] == 1, "the node leads")


def end(process):
    """Its exit status after SIGTERM."""
    process.terminate()
    return process.wait(ENDS)


def closing(numbers):
    """The function that closes these descriptors in a new process."""

    def close():
        for number in numbers:
            os.close(number)

    return close


def open_sockets(pid):
    """The numbers of the sockets that a process has open."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith("socket:"):
            found.append(int(name))
    return found


@pytest.mark.parametrize("command", [None, ["sleep", "60"]], ids=["node", "run"])
@pytest.mark.parametrize("numbers", [[0, 1, 2], [1, 2]], ids=str)
def test_missing_streams_are_opened_before_anything_else(alone, start, command, numbers):
    process = start(command=command, preexec_fn=closing(numbers))
    wait_until_it_leads(alone)
    for number in numbers:
        assert os.readlink(f"/proc/{process.pid}/fd/{number}") == "/dev/null"
    end(process)
    for file in alone[1].data_dir.iterdir():
        assert b"node 1:" not in file.read_bytes(), f"the log is in {file}"


@pytest.mark.parametrize(
    ("extra", "status"), [([], 0), (["--cluster", "other"], 1), (["--no-such-flag"], 2)], ids=str
)
def test_a_question_without_stderr_is_answered_by_the_exit_status(new_cluster, extra, status):
    cluster, _ = new_cluster(1).settled()
    words = [cluster.program, "status", "--peers", cluster.peers, *extra]
    done = subprocess.run(
        words,
        preexec_fn=closing([0, 2]),
        stdout=subprocess.DEVNULL,
        timeout=DEADLINE,
        env=cluster.environment,
    )
    assert done.returncode == status


@pytest.mark.parametrize(
    "words",
    ["status --peers {peers}", "watch --peers {peers}", "--help", "help", "help run", "run --help"],
)
@pytest.mark.parametrize("numbers", [[1], [0, 1, 2]], ids=str)
def test_an_answer_that_cannot_be_written_is_a_failure(new_cluster, words, numbers):
    cluster, _ = new_cluster(1).settled()
    done = subprocess.run(
        [cluster.program, *words.format(peers=cluster.peers).split()],
        preexec_fn=closing(numbers),
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE,
        env=cluster.environment,
    )
    assert done.returncode == 1
    assert ("stdout can't be written" in done.stderr) == (2 not in numbers)


def test_watch_without_streams_writes_into_no_connection(new_cluster, spawn):
    cluster, _ = new_cluster(1).settled()
    words = [cluster.program, "watch", "--peers", cluster.peers]
    process = spawn(
        words, preexec_fn=closing([0, 2]), stdout=subprocess.DEVNULL, env=cluster.environment
    )
    numbers = cluster.wait_for(lambda: open_sockets(process.pid), "it is connected")
    assert min(numbers) > 2
    assert end(process) == 0


@pytest.fixture
def full_pipe():
    """The writing end of a full pipe, blocking as everybody's is. Nobody ever reads."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for size in (65536, 1):
        try:
            while True:
                os.write(writing, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def shared_pipe():
    """A pipe that somebody who shares its writing end has made non-blocking."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with os.fdopen(reading, "rb", 0) as reader, os.fdopen(writing, "wb", 0) as writer:
        yield reader, writer


def test_a_full_stream_that_does_not_block_is_waited_for_without_effort(alone, start, shared_pipe):
    reader, writer = shared_pipe
    filler = 0
    while written := writer.write(b"x" * 4096):
        filler += written
    process = start(["--events", "-"], stdout=writer, stderr=writer)
    wait_until_it_leads(alone)
    before = cpu_seconds(process.pid)
    time.sleep(1)  # pause: what is measured is the effort of waiting
    assert cpu_seconds(process.pid) - before < 0.5
    process.terminate()
    writer.close()
    text = reader.read()  # to the end: nobody has it open for writing any more
    assert process.wait(DEADLINE) == 0
    assert text[:filler] == b"x" * filler
    lines = text[filler:].splitlines()
    events = [json.loads(line)["event"] for line in lines if line.startswith(b"{")]
    assert events[0] == "started"
    assert events[-1] == "stopped"
    logged = [line for line in lines if not line.startswith(b"{")]
    assert logged
    assert all(b" node 1: " in line for line in logged), "a line is cut"


@pytest.fixture
def taken_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("node --id 1 --peers 1=127.0.0.1:{port} --data-dir {place}", 1),
        ("status --peers 1=127.0.0.1:{port} --timeout 100ms", 1),
        ("node --id x --peers y --heartbeat z --lease 1", 2),
        ("run --id 1 --peers 1=127.0.0.1:{port} --data-dir {place} -- /no/such/program", 2),
        ("guard", 2),
    ],
    ids=lambda value: str(value).split()[0],
)
def test_what_fails_ends_although_nobody_reads_why(
    spawn, full_pipe, taken_port, tmp_path, words, status
):
    words = words.format(port=taken_port, place=tmp_path / "data").split()
    process = spawn([find_program(), *words], stderr=full_pipe, stdout=subprocess.DEVNULL)
    assert process.wait(ENDS) == status


def test_a_node_works_and_ends_while_nobody_reads_its_log_and_events(alone, start, full_pipe):
    flags = ["--events", "-", "--log-level", "trace"]
    process = start(flags, stdout=full_pipe, stderr=full_pipe)
    wait_until_it_leads(alone)
    assert end(process) == 0
    assert os.get_blocking(full_pipe), "it has changed what is not its own alone"


def test_a_command_that_fills_the_stream_that_it_shares_holds_up_nobody(alone, start):
    """Whenever there is room, many compete for it: that there was some says nothing."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader:
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do yes >&2 & done; wait"
        command = ["sh", "-c", script]
        process = start(["--events", "-"], command, stdout=writing, stderr=writing)
        os.close(writing)
        wait_until_it_leads(alone)
        for _ in range(200):
            reader.read(4096)
        # The stream is full when this is logged, and it waits like the others.
        process.terminate()
        for _ in range(3):
            reader.read(4096)
        assert process.wait(ENDS) == 128 + signal.SIGTERM


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def open_reader(path):
    """Waits neither for a writer nor for what is written."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)


def read_events(reader):
    return [json.loads(line)["event"] for line in (reader.read() or b"").splitlines()]


def test_a_start_without_a_reader_waits_for_none(alone, start, fifo):
    process = start(["--events", str(fifo), "--trace", str(fifo)])
    wait_until_it_leads(alone)
    assert end(process) == 0


def test_a_reader_that_comes_late_is_told_what_happens_from_then_on(alone, start, fifo):
    process = start(["--events", str(fifo)])
    wait_until_it_leads(alone)
    with open_reader(fifo) as reader:
        assert end(process) == 0
        told = read_events(reader)
    assert "started" not in told
    assert told[-1] == "stopped"


@pytest.fixture
def hung_up(alone, start, fifo):
    """A node whose reader has gone, and that was told by SIGHUP to open its events again."""
    told = []

    def elected():
        told.extend(read_events(reader))
        return "elected" in told

    with open_reader(fifo) as reader:
        process = start(["--events", str(fifo)])
        alone.wait_for(elected, "the reader is told of the election")
    process.send_signal(signal.SIGHUP)
    wait_until_it_leads(alone)
    return process


def test_a_hangup_without_a_reader_stops_nothing(hung_up):
    assert end(hung_up) == 0


def test_after_a_hangup_the_next_reader_is_told(hung_up, fifo):
    with open_reader(fifo) as reader:
        hung_up.send_signal(signal.SIGHUP)
        assert end(hung_up) == 0
        assert read_events(reader)[-1] == "stopped"
