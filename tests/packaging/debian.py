"""A Debian of the test's own: a folder that a chroot enters, and that systemd boots from."""

import errno
import os
import pathlib
import re
import shutil
import subprocess

from harness.packaging_files import run
from harness.waiting import wait_until

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}


def newer(package, folder):
    """The same package as a later version would be."""
    tree = folder / package.stem
    run("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN" / "control"
    text = control.read_text()
    version = re.search(r"(?m)^Version: (.*)$", text)[1]
    control.write_text(text.replace(version, version + "+later"))
    made = folder / package.name.replace(version, version + "+later")
    run("dpkg-deb", "--root-owner-group", "--build", tree, made)
    return made


class Debian:
    """A fresh Debian in a folder, made of its packages."""

    def __init__(self, folder, include=()):
        self.folder = folder
        words = ["--variant=apt", "--mode=root", "--skip=cleanup/apt"]
        if include:
            words.append(f"--include={','.join(include)}")
        run("mmdebstrap", *words, "bookworm", folder)

    def run(self, *words):
        return run("chroot", self.folder, *words, env=ENVIRONMENT)

    def apt(self, *words):
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", *words)

    def install(self, files):
        for file in files:
            shutil.copy(file, self.folder / "tmp")
        return self.apt("install", "--allow-downgrades", *(f"/tmp/{file.name}" for file in files))

    def holds(self, path):
        return (self.folder / path.removeprefix("/")).exists()


# The first process of a container finds this; systemd makes the rest.
BOOT = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
for place in run tmp dev sys/fs/cgroup; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
chmod 1777 tmp
if [ -d /sys/fs/cgroup/systemd ]; then
    mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
else
    mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm old
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx  # without it no service has devices of its own (PrivateDevices=)
pivot_root . old
umount -l old
exec env -i container=bullring-test /lib/systemd/systemd
"""


SPACES = ["--fork", "--kill-child", "--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup"]


def unbootable():
    """Why no machine can be booted here; None: it can."""
    if not shutil.which("mmdebstrap"):
        return "mmdebstrap is not installed"
    tried = subprocess.run(["unshare", *SPACES, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"no namespaces for a machine: {tried.stderr.strip()}"
    if not os.access("/sys/fs/cgroup", os.W_OK):
        return "no control group for a machine: /sys/fs/cgroup can't be written"
    return None


class Machine:
    """A Debian that has been booted: in namespaces and a control group of its own."""

    def __init__(self, debian):
        hierarchy = pathlib.Path("/sys/fs/cgroup")
        if (hierarchy / "systemd").exists():
            hierarchy = hierarchy / "systemd"
        self.group = hierarchy / f"bullring-test-{os.getpid()}"
        self.group.mkdir()
        unshare = " ".join(["exec unshare", *SPACES])
        enter = f'echo $$ >{self.group}/cgroup.procs && {unshare} sh -c "$0" boot "$1"'
        self.process = subprocess.Popen(
            ["sh", "-c", enter, BOOT, str(debian.folder)], stdin=subprocess.DEVNULL
        )

    def init(self):
        """The machine's first process, as it is numbered here; None: it is not there yet."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for pid in children.read_text().split():
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "systemd\n":
                return pid
        return None

    def try_to_run(self, *words, timeout=60):
        """The completed process of a command in it."""
        enter = ["nsenter", "-t", str(self.init()), "-m", "-p", "-u", "-i", "-n", "-C"]
        return subprocess.run(
            [*enter, "--", *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=timeout
        )

    def run(self, *words, timeout=60):
        done = self.try_to_run(*words, timeout=timeout)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def close(self):
        self.process.kill()
        self.process.wait()
        # The processes of a container do not end at the same instant as its first one.
        wait_until(self._leave, "the machine's processes have ended")

    def _leave(self):
        try:
            for folder, _, _ in os.walk(self.group, topdown=False):
                os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True
