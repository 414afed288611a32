"""The static library is linked with what the package and the files for CMake and pkg-config
declare, and with nothing beyond it; and each of those is needed.
"""

import os
import re
import subprocess

import pytest
from harness.node import ROOT
from installation import CONSUMER, run

CONTROL = (ROOT / "scripts" / "packaging" / "debian" / "control").read_text()
# Which Debian's development package has a library to link with.
PACKAGES = {
    "crypto": "libssl-dev",
    "fmt": "libfmt-dev",
    "http_parser": "libhttp-parser-dev",
    "prometheus-cpp-core": "prometheus-cpp-dev",
    "spdlog": "libspdlog-dev",
    "ssl": "libssl-dev",
}


@pytest.fixture(scope="module")
def flags(installed):
    """The flags of pkg-config for a static program."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed.libraries / "pkgconfig")}
    words = ["pkg-config", "--cflags", "--libs", "--static", "bullring"]
    return run(*words, env=environment).split()


@pytest.fixture(scope="module")
def compiled(installed, tmp_path_factory):
    """The program, once for all."""
    made = tmp_path_factory.mktemp("static") / "main.o"
    include = installed.prefix / "include"
    run("c++", "-std=c++20", "-I", include, "-c", CONSUMER / "main.cpp", "-o", made)
    return made


def link(compiled, flags, target):
    """The completed process of the linker; the shared library beside the static one is left out."""
    words = ["-l:libbullring.a" if flag == "-lbullring" else flag for flag in flags]
    command = ["c++", str(compiled), "-o", str(target), *words]
    return subprocess.run(command, capture_output=True, text=True)


def needed_by(program):
    """The shared libraries that it asks the loader for."""
    return set(re.findall(r"\(NEEDED\).*\[lib(.*?)\.so", run("readelf", "--dynamic", program)))


def test_pkg_config_names_all_that_is_needed(installed, compiled, flags, tmp_path):
    program = tmp_path / "program"
    linked = link(compiled, flags, program)
    assert linked.returncode == 0, linked.stderr
    assert "bullring" not in needed_by(program)
    installed.assert_leads(program, tmp_path / "data", dict(os.environ))


def test_and_nothing_that_is_not(compiled, flags, tmp_path):
    named = {flag[2:] for flag in flags if flag.startswith("-l")} - {"bullring", "pthread"}
    assert named == set(PACKAGES)
    for library in named:
        without = [flag for flag in flags if flag != f"-l{library}"]
        assert link(compiled, without, tmp_path / library).returncode != 0, library


def test_the_package_depends_on_them():
    (paragraph,) = re.findall(r"(?ms)^Package: libbullring-dev$.*?^Description", CONTROL)
    depends = re.search(r"(?ms)^Depends:(.*?)^\S", paragraph)[1]
    assert set(PACKAGES.values()) <= {
        word.split()[0] for word in depends.split(",") if word.strip()
    }
    assert "Suggests" not in paragraph


def test_cmake_says_which_package_is_missing(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\n"
        "project(missing LANGUAGES C CXX)\n"
        "find_package(bullring CONFIG REQUIRED COMPONENTS static)\n"
    )
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    configure.append(f"-DCMAKE_PREFIX_PATH={installed.prefix}")
    run(*configure)
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text()
    found = re.search(r"(?m)^(bullring_http_parser_LIBRARY:\w+)=(.*)$", cache)
    place = os.path.dirname(found[2])
    # Looked for anew, as if it were not where it is (nor by the place's other name).
    ignored = ";".join(dict.fromkeys([place, place.removeprefix("/usr"), f"/usr{place}"]))
    words = [*configure, f"-D{found[1]}=NOTFOUND", f"-DCMAKE_IGNORE_PATH={ignored}"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode != 0
    assert "http_parser (on Debian libhttp-parser-dev)" in done.stderr
