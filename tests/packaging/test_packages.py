"""The Debian packages: lintian finds nothing, and in a fresh Debian they are installed, used,
upgraded, removed and purged.
"""

import os
import pathlib
import re
import shutil
import tempfile

import pytest
from debian import ENVIRONMENT, Debian, newer
from harness.packaging_files import ROOT, run

pytestmark = [pytest.mark.long, pytest.mark.limit(3600)]

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="a chroot needs root")


def files_of(package):
    return {
        line.split()[5].removeprefix(".")
        for line in run("dpkg", "--contents", package).splitlines()
    }


def test_the_packages_are_these(packages):
    version = re.search(r"VERSION (\d+\.\d+)\.(\d+)", (ROOT / "CMakeLists.txt").read_text())
    library = f"libbullring{version[1]}"
    python = "python3-bullring"
    assert set(packages) == {"bullring", library, "libbullring-dev", "bullring-sim", python}
    architecture = run("dpkg", "--print-architecture").strip()
    for name, file in packages.items():
        its = "all" if name == python else architecture
        assert file.name == f"{name}_{version[1]}.{version[2]}_{its}.deb"
    wheel = f"bullring-{version[1]}.{version[2]}-py3-none-any.whl"
    assert [file.name for file in packages[python].parent.glob("*.whl")] == [wheel]


def test_each_has_what_it_is_for(packages):
    library = next(name for name in packages if re.fullmatch(r"libbullring\d.*", name))
    contents = {name: files_of(file) for name, file in packages.items()}
    assert contents["bullring"] >= {
        "/etc/bullring/",
        "/lib/systemd/system/bullring@.service",
        "/lib/systemd/system/bullring-run@.service",
        "/lib/systemd/system/bullring-address@.service",
        "/etc/logrotate.d/bullring",
        "/usr/bin/bullring",
        "/usr/lib/sysusers.d/bullring.conf",
        "/usr/share/bash-completion/completions/bullring",
        "/usr/share/bullring/bullring.rules.yml",
        "/usr/share/bullring/bullring-dashboard.json",
        "/usr/share/doc/bullring/examples/go/attach/attach.go",
        "/usr/share/doc/bullring/examples/node/attach.mjs",
        "/usr/share/doc/bullring/examples/poller.toml",
        "/usr/share/doc/bullring/examples/shell/leader.sh",
        "/usr/share/doc/bullring/examples/kubernetes.yaml",
        "/usr/share/man/man1/bullring-run.1.gz",
        "/usr/share/man/man7/bullring-service.7.gz",
        "/usr/share/zsh/vendor-completions/_bullring",
    }
    assert {"/usr/bin/bullring-sim", "/usr/share/man/man1/bullring-sim.1.gz"} <= contents[
        "bullring-sim"
    ]
    assert contents["python3-bullring"] >= {
        "/usr/lib/python3/dist-packages/bullring/__init__.py",
        "/usr/lib/python3/dist-packages/bullring/py.typed",
        "/usr/share/doc/python3-bullring/examples/scheduler.py",
        "/usr/share/man/man7/python3-bullring.7.gz",
    }
    assert "/usr/include/bullring/bullring.hpp" in contents["libbullring-dev"]
    assert "/usr/share/man/man3/libbullring.3.gz" in contents["libbullring-dev"]
    for end in (
        "/libbullring.a",
        "/libbullring.so",
        "/pkgconfig/bullring.pc",
        "/bullring-config.cmake",
    ):
        assert any(file.endswith(end) for file in contents["libbullring-dev"])
    assert any(re.search(r"/libbullring\.so\.\d", file) for file in contents[library])
    for name, files in contents.items():
        others = set().union(*(contents[other] for other in contents if other != name))
        assert not {file for file in files & others if not file.endswith("/")}


@pytest.fixture(scope="module")
def debian():
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed")
    with tempfile.TemporaryDirectory(prefix="bullring-debian-") as folder:
        yield Debian(pathlib.Path(folder))


CONSUMER = """
cat >/tmp/main.cpp <<'END'
#include <bullring/bullring.hpp>
int main() { return bullring::Options().id == 0 ? 0 : 1; }
END
c++ -std=c++20 /tmp/main.cpp -o /tmp/main $(pkg-config --cflags --libs bullring) && /tmp/main
"""


# A node needs /proc.
WITH_PROC = 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"'
LEADS_FROM_PYTHON = """
set -e
bullring node --id 1 --peers 1=127.0.0.1:7197 --data-dir /tmp/node 2>/tmp/log &
until [ -S /tmp/node/attach.sock ]; do kill -0 $!; done
/usr/bin/python3 -c 'import bullring
with bullring.lead("/tmp/node") as lead: print(lead.epoch)'
kill $!
wait $!
rm -r /tmp/node /tmp/log
"""


INSTANCES = ["bullring@poller", "bullring-run@poller", "bullring-address@web"]
# By another target, and by another name.
LINKS = [("cluster.target.wants", "bullring@other.service"), ("", "leader.service")]


def links(debian):
    """Those that systemd follows to what is the package's, or is called like it."""
    return debian.run(
        *("find", "/etc/systemd", "-type", "l", "(", "-name", "bullring*", "-o"),
        *("-lname", "*bullring*", ")"),
    ).split()


@ROOT_ONLY
def test_from_the_installation_to_the_purge(packages, debian, tmp_path):
    debian.install(packages.values())
    assert debian.run("bullring", "--version").startswith("bullring ")
    assert "scenario" in debian.run("bullring-sim", "--help")
    assert debian.run("getent", "passwd", "bullring").startswith("bullring:")
    words = ["unshare", "--mount", "sh", "-c", WITH_PROC]
    assert int(run(*words, debian.folder, LEADS_FROM_PYTHON, env=ENVIRONMENT)) > 0

    later = [newer(file, tmp_path) for file in packages.values()]
    state = debian.folder / "var/lib/bullring/poller/state"
    setting = debian.folder / "etc/bullring/poller.toml"
    state.parent.mkdir(parents=True)
    for file in (state, setting):
        file.touch()
    for folder, link in LINKS:
        place = debian.folder / "etc/systemd/system" / folder
        place.mkdir(exist_ok=True)
        (place / link).symlink_to("/lib/systemd/system/bullring@.service")
    for name in INSTANCES:  # as an administrator does, also where systemd does not run
        debian.run("systemctl", "enable", name)
    debian.run("systemctl", "mask", "bullring@never")
    drop_in = debian.folder / "etc/systemd/system/bullring@poller.service.d/override.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nUser=poller\n")
    debian.install(later)
    assert "+later" in debian.run("dpkg-query", "--show", "bullring")
    assert state.exists() and setting.exists()

    debian.apt("remove", "bullring")
    assert not debian.holds("/usr/bin/bullring")
    assert state.exists() and setting.exists()
    assert len(links(debian)) == len(LINKS) + len(INSTANCES) + 1  # back if it is installed again
    debian.apt("purge", *packages)
    assert not state.exists()
    assert setting.exists() and drop_in.exists()  # an administrator's
    assert links(debian) == []
    assert not debian.holds("/etc/systemd/system/cluster.target.wants")
    words = ["find", "/etc", "/lib", "/usr", "/var/lib", "/var/log", "-name", "*bullring*"]
    left = [file for file in debian.run(*words).split() if not file.startswith("/var/lib/dpkg/")]
    assert sorted(left) == ["/etc/bullring", "/etc/systemd/system/bullring@poller.service.d"]


STATIC = """
set -e
cd /tmp
flags="$(pkg-config --cflags --libs --static bullring | sed 's/-lbullring/-l:libbullring.a/')"
c++ -std=c++20 consumer/main.cpp -o by-pkg-config $flags
cmake -S consumer -B built
cmake --build built --target consumer_static
for program in by-pkg-config built/consumer_static; do
    ! ldd $program | grep bullring
    ./$program 7199 "/tmp/data-$(basename $program)"
done
"""


@ROOT_ONLY
def test_a_program_is_built_against_the_library(packages, debian):
    """Shared and static, with nothing beside what the package depends on."""
    library = next(name for name in packages if re.fullmatch(r"libbullring\d.*", name))
    debian.install([packages["libbullring-dev"], packages[library]])
    debian.apt("install", "g++", "pkg-config", "cmake", "make")
    debian.run("sh", "-c", CONSUMER)
    shutil.copytree(ROOT / "tests" / "library" / "consumer", debian.folder / "tmp" / "consumer")
    assert debian.run("sh", "-c", STATIC).count("led in epoch ") == 2
