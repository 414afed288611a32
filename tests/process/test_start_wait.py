"""A node that starts waits for what time or another program may mend; all else ends it with 2."""

import os
import shutil
import signal
import subprocess

import pytest
from harness.node import find_program
from harness.secrets import Authority, key_line, write_private
from harness.waiting import DEADLINE, wait_until

WAITS = "; waiting for that to change"


class Place:
    """The files that a node may need, each whole, and its command line."""

    def __init__(self, directory, port):
        self.directory = directory
        write_private(directory / "key", key_line())
        write_private(directory / "token", "secret\n")
        (directory / "peers").write_text(f"1=127.0.0.1:{port}\n")
        self.authority = Authority(directory)
        self.tls = self.authority.flags("node/1", crl=self.authority.revoke())
        self.flags = ["--id", "1", "--data-dir", str(directory / "state")]
        self.peers = ["--peers", f"1=127.0.0.1:{port}"]
        self.key = ["--security", "key", "--key-file", str(directory / "key")]

    def words_with(self, flag):
        if flag == "--peers":
            return [*self.flags, "--peers", f"@{self.directory / 'peers'}"]
        if flag == "--key-file":
            return [*self.flags, *self.peers, *self.key]
        if flag == "--http-token-file":
            http = [
                "--http",
                f"unix:{self.directory / 'http'}",
                flag,
                str(self.directory / "token"),
            ]
            return [*self.flags, *self.peers, *http]
        return [*self.flags, *self.peers, *self.tls]

    def file_of(self, flag):
        words = self.words_with(flag)
        return self.directory / words[words.index(flag) + 1].removeprefix("@")

    @property
    def begun(self):
        return (self.directory / "state" / "lock").exists()


@pytest.fixture
def place(tmp_path, ports):
    return Place(tmp_path, ports.take())


@pytest.fixture
def start(spawn):
    def started(*words, command="node"):
        work = ["--", "true"] if command == "run" else []
        return spawn(
            [find_program(), command, *words, *work], stderr=subprocess.PIPE, text=True, bufsize=1
        )

    return started


def goes_on(place, process):
    wait_until(lambda: place.begun, "the node starts")
    process.terminate()
    process.communicate(timeout=DEADLINE)


FILES = ["--peers", "--key-file", "--http-token-file", "--tls-cert", "--tls-key", "--tls-ca"]


@pytest.mark.parametrize(
    ("flag", "is_empty"),
    [(flag, is_empty) for flag in FILES for is_empty in (False, True)] + [("--tls-crl", True)],
)
def test_a_file_that_comes_later_is_waited_for(place, start, flag, is_empty):
    file = place.file_of(flag)
    whole = file.with_name("whole")
    shutil.copy2(file, whole)
    if is_empty and flag == "--peers":
        pytest.skip("a list of nobody is a whole one")
    file.unlink() if not is_empty else os.truncate(file, 0)
    process = start(*place.words_with(flag))
    line = process.stderr.readline()
    assert line.startswith(f"bullring: {flag}: ") and f'"{file}"' in line, line
    assert ("is empty" if is_empty else "No such file") in line and WAITS in line
    process.send_signal(signal.SIGHUP)  # it looks, and goes on waiting
    assert not place.begun
    os.replace(whole, file)
    goes_on(place, process)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_the_wait_cleanly(place, start, number):
    place.file_of("--key-file").unlink()
    process = start(*place.words_with("--key-file"), command="run")
    assert WAITS in process.stderr.readline()
    process.send_signal(number)
    assert process.wait(timeout=DEADLINE) == 0
    assert not place.begun


@pytest.mark.parametrize("flag", ["--tls-cert", "--tls-key", "--tls-ca"])
def test_a_renewal_that_has_replaced_one_file_of_several_is_waited_for(
    place, start, tmp_path, flag
):
    (tmp_path / "other").mkdir()
    others = Authority(tmp_path / "other", name="other").flags("node/1")
    file = place.file_of(flag)
    shutil.copy2(file, tmp_path / "right")
    shutil.copy2(others[others.index(flag) + 1], file)
    words = place.words_with(flag)
    at = words.index("--tls-crl")
    process = start(*words[:at], *words[at + 2 :])
    line = process.stderr.readline()
    assert WAITS in line and str(file) in line, line
    os.replace(tmp_path / "right", file)
    goes_on(place, process)


def test_a_file_that_is_being_written_is_no_wrong_one_yet(place, start):
    file = place.file_of("--key-file")
    right = file.read_text()
    file.unlink()
    process = start(*place.words_with("--key-file"))
    assert "No such file" in process.stderr.readline()
    write_private(file, right[:20])
    line = process.stderr.readline()
    assert "line 1 has" in line and WAITS in line
    write_private(file, right)
    goes_on(place, process)


def test_a_file_that_comes_and_is_wrong_ends_the_wait_with_2(place, start):
    file = place.file_of("--key-file")
    file.unlink()
    process = start(*place.words_with("--key-file"))
    assert WAITS in process.stderr.readline()
    write_private(file, "rubbish\n")
    said = process.communicate(timeout=DEADLINE)[1]
    assert process.returncode == 2
    assert "line 1 is no key" in said.splitlines()[-1] and WAITS not in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "status"),
    [(["status"], 2), (["watch"], 2), (["node", "--id", "1", "--check"], 2)]
    + [(["doctor", "--id", "1"], 2)],
)
def test_a_command_that_only_asks_fails_at_once(place, words, status):
    place.file_of("--key-file").unlink()
    done = subprocess.run(
        [find_program(), *words, *place.peers, *place.key],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == status and WAITS not in done.stderr, done
    assert "No such file" in done.stderr


@pytest.mark.parametrize(
    "words", [["--lease", "5"], ["--config", "/no/such/file"], ["--", "/no/such/program"]]
)
def test_nothing_is_waited_for_beside_what_only_an_edit_mends(place, words):
    place.file_of("--key-file").unlink()
    run = [find_program(), "run", *place.words_with("--key-file")]
    work = [] if "--" in words else ["--", "true"]
    done = subprocess.run([*run, *words, *work], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 2 and WAITS not in done.stderr, done
    assert "No such file" in done.stderr and words[-1] in done.stderr
