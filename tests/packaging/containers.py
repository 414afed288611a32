"""The image that the container file describes, and containers of it: namespaces and a root, made as
an engine makes them. There is no engine here, and no filter of system calls, which engines add.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from harness.node import die_with_parent, find_program, python_environment
from harness.packaging_files import BUILD, SOURCES, run

FILE = SOURCES / "container" / "Containerfile"
LAUNCHER = pathlib.Path(__file__).with_name("contained.py")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# An engine mounts these or fills them in.
FILLED_IN = ("etc/hosts", "etc/hostname", "etc/resolv.conf")


class ContainerFile:
    """The instructions of its last stage."""

    def __init__(self, path=FILE):
        text = re.sub(r"(?m)^\s*#.*\n", "", path.read_text())
        lines = text.replace("\\\n", "").splitlines()
        found = [line.split(None, 1) for line in lines if line.strip()]
        last = max(i for i, (word, _) in enumerate(found) if word == "FROM")
        self.base = found[last][1]
        self.instructions = found[last + 1 :]

    def all(self, name):
        return [rest for word, rest in self.instructions if word == name]

    def one(self, name, default=None):
        """The last one counts."""
        return (self.all(name) or [default])[-1]

    @property
    def user(self):
        """(user, group)."""
        return tuple(int(number) for number in self.one("USER").split(":"))

    @property
    def environment(self):
        pairs = [pair.split("=", 1) for rest in self.all("ENV") for pair in rest.split()]
        return {"PATH": PATH, **dict(pairs)}

    @property
    def volumes(self):
        return [place for rest in self.all("VOLUME") for place in rest.split()]

    @property
    def stop_signal(self):
        return signal.Signals[self.one("STOPSIGNAL", "SIGTERM")]

    def words(self, arguments=None):
        """The command that it runs; arguments take the place of CMD."""
        default = json.loads(self.one("CMD", "[]"))
        return json.loads(self.one("ENTRYPOINT", "[]")) + (arguments or default)


def make_root(folder, containerfile):
    """The root of an image without a distribution: what the package installs, and the libraries
    that the program needs, of this machine.
    """
    for component in ("program", "service"):
        run("cmake", "--install", BUILD, "--component", component, "--prefix", folder / "usr")
    needed = re.findall(r"(?m)(/\S+) \(0x", run("ldd", find_program()))
    for library in needed:
        place = folder / library.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    complete(folder)
    for volume in containerfile.volumes:
        place = folder / volume.removeprefix("/")
        place.mkdir(parents=True, mode=0o700)
        os.chown(place, *containerfile.user)
    return folder


def complete(folder):
    """Makes the folders at which an engine mounts; and all may enter the root."""
    folder.chmod(0o755)
    for name in ("proc", "dev", "etc", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    for name in FILLED_IN:
        (folder / name).touch()


class Container:
    """One run of an image: namespaces of processes, mounts, names; the network is given."""

    def __init__(self, root, containerfile, network, directory):
        """`root`: the image's; `network`: the path of its namespace; `directory`: its own."""
        self.root, self.file, self.network = root, containerfile, network
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log = self.directory / "log"
        self.process = None

    def start(self, hostname, arguments=None, environment=None, files=None, volumes=None, **rights):
        """`files`: the texts of those that the engine fills in; `volumes`: directories by the place
        where they are mounted; `rights`: what differs from an engine's defaults.
        """
        user, group = self.file.user
        mounts = {place: str(folder) for place, folder in (volumes or {}).items()}
        filled = {"/etc/hostname": f"{hostname}\n", "/etc/hosts": "127.0.0.1 localhost\n"}
        for place, text in {**filled, "/etc/resolv.conf": "", **(files or {})}.items():
            file = self.directory / pathlib.Path(place).name
            file.write_text(text)
            mounts[place] = str(file)
        wish = {
            "root": str(self.root),
            "hostname": hostname,
            "mounts": mounts,
            "words": self.file.words(arguments),
            "environment": {**self.file.environment, **(environment or {})},
            "user": user,
            "group": group,
            "groups": [],
            "read_only": False,
            "drop_all": False,
            "no_new_privileges": False,
            **rights,
        }
        enter = [
            "nsenter",
            f"--net={self.network}",
            "unshare",
            "--pid",
            "--mount",
            "--uts",
            "--ipc",
        ]
        words = [*enter, "--fork", "--kill-child", sys.executable, "-B", LAUNCHER, json.dumps(wish)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=python_environment(),
                preexec_fn=die_with_parent,
            )

    def first(self):
        """The container's first process, as it is numbered here; None: there is none."""
        try:
            listed = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            return int(listed.read_text().split()[0])
        except (OSError, IndexError):
            return None

    def execute(self, *words):
        """The output of a further process in it, which has to succeed, as of `kubectl exec`."""
        pid = str(self.first())
        variables = pathlib.Path(f"/proc/{pid}/environ").read_text().rstrip("\0").split("\0")
        environment = dict(one.split("=", 1) for one in variables)
        return run("nsenter", "--target", pid, "--all", "--root", "--wd", *words, env=environment)

    def processes(self):
        """All of its processes, by their numbers here."""
        here = os.readlink(f"/proc/{self.first()}/ns/pid")
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and _namespace(pid) == here]

    def signal(self, number):
        os.kill(self.first(), number)

    def stop(self, patience):
        """As an engine ends it; the exit status."""
        self.signal(self.file.stop_signal)
        return self.process.wait(patience)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            if (first := self.first()) is not None:
                os.kill(first, signal.SIGKILL)
            else:
                self.process.kill()
            self.process.wait()


def _namespace(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:  # it has ended
        return None
