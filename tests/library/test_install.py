"""Users install the library: by CMake, by pkg-config, and from C."""

import os
import re
import shutil
import subprocess

import pytest
from harness import readme
from harness.node import ROOT
from installation import BUILD, CONSUMER, run


@pytest.fixture(scope="module")
def consumer(installed):
    """The folder in which a user's programs are built."""
    return installed.build(CONSUMER)


@pytest.mark.parametrize("program", ["consumer_bullring", "consumer_static", "consumer_c"])
def test_cmake_shared_static_and_c(installed, consumer, tmp_path, program):
    installed.assert_leads(consumer / program, tmp_path / "data")


def test_everything_is_installed_and_runs(tmp_path):
    prefix = tmp_path / "everything"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    assert re.search(r"\d+\.\d+\.\d+", run(prefix / "bin" / "bullring", "--version"))
    # The simulator is installed only if it was built.
    assert (BUILD / "bullring-sim").exists() == (prefix / "bin" / "bullring-sim").exists()
    assert (prefix / "include" / "bullring" / "version.hpp").exists()
    assert list(prefix.glob("lib/**/libbullring.so"))
    assert list(prefix.glob("lib/**/libbullring.a"))


def test_the_command_line_of_the_manual_for_pkg_config(installed, tmp_path):
    text = (ROOT / "include" / "libbullring.3.md").read_text()
    line = re.search(r"(?m)^(g\+\+ .*pkg-config .*)$", text)
    shutil.copy(CONSUMER / "main.cpp", tmp_path / "service.cpp")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed.libraries / "pkgconfig")}
    run("sh", "-c", line.group(1), cwd=tmp_path, env=environment)
    # The loader finds the library without the caller's help.
    environment.pop("LD_LIBRARY_PATH", None)
    installed.assert_leads(tmp_path / "service", tmp_path / "data", environment)


def test_the_example_of_the_readme_and_of_the_manual_compiles(installed, tmp_path):
    (example,) = readme.blocks("A task in your own service", "cpp")
    include, body = example.split("\n", 1)
    page = (ROOT / "include" / "libbullring.3.md").read_text()
    assert f"```cpp\n{body.strip()}\n```\n" in page
    source = tmp_path / "readme.cpp"
    source.write_text(
        f"{include}\nint next_row();\nvoid write(int row, std::uint64_t epoch);\n"
        f"int main() {{\n{body}\n}}\n"
    )
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run("c++", *flags, "-I", installed.prefix / "include", source)


def test_the_example_in_c_compiles_and_all_functions_of_c_are_told(installed, tmp_path):
    page = (ROOT / "include" / "libbullring.3.md").read_text()
    example = re.search(r"(?s)```c\n(.*?)```", page)[1]
    source = tmp_path / "example.c"
    source.write_text(
        "#include <stdint.h>\n#include <stdio.h>\n#include <bullring/bullring.h>\n"
        "int next_row(void);\nvoid write_row(int row, uint64_t epoch);\n"
        f"int main(void) {{\n{example}\nreturn 0;\n}}\n"
    )
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run("cc", *flags, "-I", installed.prefix / "include", source)
    header = (ROOT / "include" / "bullring" / "bullring.h").read_text()
    functions = re.findall(r"BULLRING_C_API [^;]*?\b(bullring_\w+)\(", header)
    assert len(functions) > 10
    assert [name for name in functions if f"`{name}`" not in page] == []


def test_the_commands_that_install(tmp_path):
    with readme.commands("Installing") as block:
        build = block.take("scripts/build$")
        if BUILD.resolve() == ROOT / "build":  # what it leaves is what is tested
            run(*build.split(), cwd=ROOT)
        install = block.take("sudo cmake --install build --prefix /usr/local$").split()[1:]
        run(*({"build": BUILD, "/usr/local": tmp_path}.get(word, word) for word in install))
        environment = {**os.environ, "MANPATH": str(tmp_path / "share" / "man")}
        environment["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        man = block.take("man bullring-run$").split()
        if shutil.which("man") and (BUILD / "share" / "man").exists():
            page = run(*man, env=environment)
            assert "run a command on exactly one of several machines" in page
        assert "troubleshooting" in run(*block.take("bullring help$").split(), env=environment)


@pytest.mark.skipif(
    not (shutil.which("man") and (BUILD / "share" / "man").exists()), reason="no man pages here"
)
def test_a_man_page_is_installed_for_each_page_of_the_manual(tmp_path):
    run("cmake", "--install", BUILD, "--prefix", tmp_path)
    manual = ROOT / "src" / "manual"
    for page in [*manual.glob("*.md"), ROOT / "include" / "libbullring.3.md"]:
        name = page.name.removesuffix(".md")
        file = tmp_path / "share" / "man" / f"man{name[-1]}" / name
        assert file.exists()
        environment = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
        shown = subprocess.run(
            ["man", "--warnings", "-l", file], capture_output=True, text=True, env=environment
        )
        assert shown.returncode == 0
        # A table of 13 columns is wider than a terminal of 80.
        if name != "bullring-protocol.7":
            assert shown.stderr == "", name


@pytest.mark.skipif(
    not (shutil.which("man") and (BUILD / "share" / "man").exists()), reason="no man pages here"
)
def test_a_man_page_can_be_cut_into_paper():
    """As lintian looks at it, and wider and narrower: where a table begins depends on the width."""
    for file in sorted((BUILD / "share" / "man").rglob("bullring*.[1-7]")):
        for width in (108, 120, 124) if file.name == "bullring-protocol.7" else (120,):
            environment = {**os.environ, "MANWIDTH": str(width), "LC_ALL": "C.UTF-8"}
            words = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file]
            cut = subprocess.run(words, capture_output=True, text=True, env=environment)
            assert "will not fit" not in cut.stderr, (file.name, width)
            assert width != 120 or cut.stderr == "", file.name


def test_headers_need_the_standard_library_alone(installed):
    header = installed.prefix / "include" / "bullring" / "bullring.hpp"
    needed = run("c++", "-std=c++20", "-M", "-I", installed.prefix / "include", header)
    for library in ("asio", "spdlog", "cereal", "fmt/", "nlohmann", "protocol/"):
        assert library not in needed


def test_only_the_interface_is_visible(installed):
    library = installed.libraries / "libbullring.so"
    symbols = run("nm", "-DC", "--defined-only", library).splitlines()
    headers = "".join(path.read_text() for path in (ROOT / "include" / "bullring").glob("*.hpp"))
    marked = re.findall(r"class BULLRING_API (\w+)|(?m:^)BULLRING_API \w+ (\w+)", headers)
    names = [a or b for a, b in marked] + ["Options"]  # a struct of which one function is marked
    for name in ("Node", "Administrator", "set_log_handler"):
        assert name in names
    ours = re.compile(
        r"^[0-9a-f]+ \w (bullring_\w+$|((typeinfo|typeinfo name|vtable) for )?bullring::"
        rf"({'|'.join(names)})\b)"
    )
    assert [line for line in symbols if not ours.search(line)] == []
    # A name that the linker's map lacks is missed only by a program that calls it.
    exported = (ROOT / "scripts" / "cmake" / "libbullring.map").read_text()
    assert set(names) == set(re.findall(r"bullring::(\w+)(?:::)?\*;", exported))
    for name in ("bullring_open", "bullring::Node::start()", "typeinfo for bullring::NodeError"):
        assert any(line.endswith(f" {name}") for line in symbols), name


def test_a_minor_version_has_a_name_of_its_own(installed):
    """Below 1.0.0 it may change anything, so a program is bound to the one it was built with."""
    project = (ROOT / "CMakeLists.txt").read_text()
    major, minor = re.search(r"(?m)^ +VERSION (\d+)\.(\d+)\.\d+$", project).groups()
    dynamic = run("readelf", "-d", installed.libraries / "libbullring.so")
    assert f"[libbullring.so.{major}.{minor}]" in dynamic
