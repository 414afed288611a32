"""The rules of the tree hold, and each can fail: a breach planted in another tree is found."""

import os
import pathlib
import subprocess

from lint import include_rules
from lint import linked_symbols
from lint import purity
import pytest
from lint import style_rules
from harness.node import ROOT


@pytest.fixture
def clean(tree):
    """A tree that keeps to all rules."""
    tree.plant("protocol/values/ids.hpp", "// Owns: ids.\n#pragma once\n#include <cstdint>\n")
    tree.plant("protocol/lease/lease.hpp", "// Owns: leases.\n#pragma once\n")
    tree.plant("src/wire/codec.hpp", "// Owns: the codec.\n#pragma once\n")
    tree.plant("sim/world.hpp", "// Owns: the world.\n#pragma once\n")
    return tree


def includes(tree, path, include):
    """The complaints of the include rules about one more file with one include."""
    tree.plant(path, f"// Owns: a test.\n#include {include}\n")
    return list(include_rules.breaches(tree.root))


def style(tree, path, text):
    tree.plant(path, text)
    return list(style_rules.breaches(tree.root))


def test_a_clean_tree_has_no_breach(clean):
    clean.plant(
        "tests/unit/codec_test.cpp",
        '#include <random>\n#include "src/wire/codec.hpp"\n#include "sim/world.hpp"\n',
    )
    clean.plant(
        "src/wire/codec.cpp", '#include "src/wire/codec.hpp"\n#include <cereal/cereal.hpp>\n'
    )
    clean.plant("src/wire/codec_archive.hpp", "#include <cereal/archives/portable_binary.hpp>\n")
    clean.plant(
        "include/bullring/node.hpp", '#include <thread>\n#include "protocol/values/ids.hpp"\n'
    )
    clean.plant("sim/world.cpp", '#include <random>\n#include "protocol/lease/lease.hpp"\n')
    assert list(include_rules.breaches(clean.root)) == []


@pytest.mark.parametrize(
    "header",
    ["iostream", "fstream", "thread", "mutex", "chrono", "random", "time.h", "asio.hpp", "atomic"],
)
def test_the_protocol_may_not_reach_the_outside(clean, header):
    (found,) = includes(clean, "protocol/bad.cpp", f"<{header}>")
    assert "protocol/bad.cpp:2" in found


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("protocol/bad.cpp", '"src/wire/codec.hpp"'),
        ("protocol/bad.cpp", '"sim/world.hpp"'),
        ("protocol/bad.cpp", "<src/wire/codec.hpp>"),
        ("src/bad.cpp", '"sim/world.hpp"'),
        ("src/commands/bad.cpp", '"sim/world.hpp"'),
        ("sim/bad.cpp", '"src/wire/codec.hpp"'),
        ("include/bullring/bad.hpp", '"src/wire/codec.hpp"'),
        ("include/bullring/bad.hpp", '"protocol/lease/lease.hpp"'),
        ("include/bullring/bad.hpp", "<asio.hpp>"),
        ("src/base/os/bad.hpp", '"protocol/lease/lease.hpp"'),
        ("src/session.cpp", "<cereal/cereal.hpp>"),
        ("src/commands/codec.cpp", "<cereal/cereal.hpp>"),
    ],
)
def test_a_room_keeps_out_of_the_rooms_that_are_closed_to_it(clean, path, include):
    assert len(includes(clean, path, include)) == 1


@pytest.mark.parametrize(
    "include", ['"codec.hpp"', '"../src/wire/codec.hpp"', '"src/nowhere.hpp"', "MACRO"]
)
def test_an_include_names_a_file_from_the_root(clean, include):
    assert len(includes(clean, "src/bad.cpp", include)) == 1


def test_spaces_and_comments_hide_nothing(clean):
    clean.plant("protocol/bad.cpp", "  #  include  <thread>  // for a reason\n#include<mutex>\n")
    assert len(list(include_rules.breaches(clean.root))) == 2


@pytest.fixture
def rooms(clean):
    """Three rooms, as src/README.md and src/CMakeLists.txt tell of them."""
    clean.plant(
        "src/README.md",
        "| room | owns | may include |\n|---|---|---|\n"
        "| `base` | texts | – |\n| `wire` | frames | `base` |\n"
        "| `node` `more` | nodes | `wire` |\n",
    )
    clean.plant(
        "src/CMakeLists.txt",
        "bullring_room(base LINKS asio::asio)\nbullring_room(wire LINKS bullring::base)\n"
        "bullring_room(node WITHOUT node/more LINKS bullring::wire\n    fmt::fmt)\n",
    )
    clean.plant("src/base/text/text.hpp", "")
    clean.plant("src/node/net/tcp.hpp", '#include "src/base/text/text.hpp"\n')
    return clean


def test_a_room_of_src_includes_what_its_row_lets_it(rooms):
    assert list(include_rules.room_breaches(rooms.root)) == []
    rooms.plant("src/base/text/bad.hpp", '#include "src/node/net/tcp.hpp"\n')
    (found,) = include_rules.room_breaches(rooms.root)
    assert "lets base not include node" in found


def test_a_file_of_src_stands_in_a_room(rooms):
    rooms.plant("src/lost/lost.hpp", "")
    (found,) = include_rules.room_breaches(rooms.root)
    assert "src/lost/lost.hpp" in found


def test_a_room_links_what_it_may_include(rooms):
    cmake = rooms.root / "src/CMakeLists.txt"
    found = list(include_rules.link_breaches(rooms.root))
    assert len(found) == 1  # `more` has a row and no target
    assert "more" in found[0]
    with cmake.open("a") as text:
        text.write("bullring_room(more FOLDERS node/more LINKS bullring::base)\n")
    (found,) = include_rules.link_breaches(rooms.root)
    assert "more links ['base'], src/README.md says ['wire']" in found


def test_a_circle_of_folders_is_found(clean):
    clean.plant("src/a/a.hpp", '#include "src/b/b.hpp"\n#include "src/d/d.hpp"\n')
    clean.plant("src/b/b.hpp", "")
    clean.plant("src/c/c.hpp", "")
    clean.plant("src/d/d.hpp", "")
    clean.plant("src/b/b.cpp", '#include "src/b/b.hpp"\n#include "src/c/c.hpp"\n')
    assert include_rules.circles(clean.root, include_rules.folder) == set()
    clean.plant("src/c/more.cpp", '  #  include  "src/a/a.hpp"  // back again\n')
    assert include_rules.circles(clean.root, include_rules.folder) == {
        frozenset({"src/a", "src/b", "src/c"})
    }


def test_the_state_that_is_gathered_makes_no_circle_of_folders(clean):
    clean.plant("protocol/parts.hpp", '#include "protocol/lease/voter.hpp"\n')
    clean.plant("protocol/parts.cpp", '#include "protocol/parts.hpp"\n')
    clean.plant("protocol/lease/voter.hpp", "")
    clean.plant("protocol/lease/vote.hpp", '#include "protocol/parts.hpp"\n')
    assert include_rules.circles(clean.root, include_rules.folder) == set()
    clean.plant("protocol/parts.cpp", '#include "protocol/lease/vote.hpp"\n')
    assert include_rules.circles(clean.root, include_rules.folder) == {
        frozenset({"protocol/lease", "protocol/parts"})
    }


def test_a_circle_of_files_is_found(clean):
    clean.plant("sim/a.hpp", '#include "sim/b.hpp"\n')
    clean.plant("sim/a.cpp", '#include "sim/a.hpp"\n')
    clean.plant("sim/b.hpp", "")
    clean.plant("sim/b.cpp", '#include "sim/b.hpp"\n')
    assert include_rules.circles(clean.root, include_rules.pair) == set()
    # No header includes the other in a circle: a source closes it.
    clean.plant("sim/b.cpp", '#include "sim/b.hpp"\n#include "sim/a.hpp"\n')
    assert include_rules.circles(clean.root, include_rules.pair) == {frozenset({"sim/a", "sim/b"})}


def test_a_file_of_more_than_400_lines_is_too_long(clean):
    assert style(clean, "src/long.cpp", "// Owns: much.\n" + "int a;\n" * 399) == []
    found = style(clean, "src/long.cpp", "// Owns: too much.\n" + "int a;\n" * 400)
    assert len(found) == 1
    assert "401 lines" in found[0]


def test_a_file_says_what_it_owns(clean):
    assert len(style(clean, "src/a.cpp", "int a;\n")) == 1
    # A source follows the head of its header.
    assert style(clean, "src/a.hpp", "// Owns: a.\n#pragma once\n") == []
    assert style(clean, "src/a_more.cpp", "int b;\n") == []
    assert len(style(clean, "src/another.cpp", "int c;\n")) == 1


def test_a_header_is_included_once(clean):
    assert len(style(clean, "protocol/a.hpp", "// Owns: a.\nint a;\n")) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("tests/unit/a_test.cpp", "std::this_thread::sleep_for(1s);"),
        ("tests/unit/a_test.cpp", "usleep (10);"),
        ("tests/process/test_a.py", "    time.sleep(0.5)"),
        ("tests/bench/a.sh", "sleep 1"),
    ],
)
def test_tests_do_not_wait_for_time(clean, path, line):
    assert len(style(clean, path, line + "\n")) == 1
    mark = "//" if path.endswith(".cpp") else "#"
    assert style(clean, path, f"{line}  {mark} pause: the lease runs out\n") == []


@pytest.mark.parametrize("words", ["std::random_device seed;", "std::chrono::system_clock::now();"])
def test_unit_tests_can_be_replayed(clean, words):
    assert len(style(clean, "tests/unit/a_test.cpp", words + "\n")) == 1


@pytest.mark.parametrize(
    "text", ["int a; \n", "\tint a;\n", "int a;", "int a;  // TO" + "DO: more\n"]
)
def test_text_is_clean_and_finished(clean, text):
    assert len(style(clean, "src/a.cpp", "// Owns: a.\n" + text)) == 1


@pytest.mark.parametrize("word", ["Who", "What", "Whoever", "Whatever"])
@pytest.mark.parametrize(
    ("path", "comment"),
    [
        ("src/wire/codec_more.cpp", "// {} is wrong.\n"),
        ("protocol/lease/vote_more.cpp", "// {} is wrong.\n"),
        ("src/wire/codec_more.cpp", "/// {} is wrong.\nint a;\n"),
        ("src/wire/codec_more.cpp", "int a;  // {} is wrong\n"),
        ("tests/unit/a_test.py", '"""{} is wrong."""\n'),
        ("src/wire/codec_more.cpp", "#include <vector>\n// {} is wrong.\n"),
        ("scripts/a.sh", "# {} is wrong.\n"),
        ("scripts/a", "#!/bin/sh\n# {} is wrong.\n"),
        ("sim/CMakeLists.txt", "# {} is wrong.\n"),
    ],
)
def test_a_comment_begins_with_its_subject(clean, word, path, comment):
    assert len(style(clean, path, comment.format(word))) == 1
    assert style(clean, path, comment.format("The frame")) == []


def test_a_comment_may_go_on_with_a_question_or_ask_one_in_a_text(clean):
    text = '// The frame says\n// What is wrong.\nauto a = "What?";\n'
    assert style(clean, "src/wire/codec_more.cpp", text) == []


def archive(folder, source, name="a"):
    (folder / f"{name}.cpp").write_text(source)
    subprocess.run(["c++", "-std=c++20", "-c", "-fPIC", f"{name}.cpp"], cwd=folder, check=True)
    subprocess.run(["ar", "rc", f"lib{name}.a", f"{name}.o"], cwd=folder, check=True)
    return str(folder / f"lib{name}.a")


def refused(folder, source):
    """The symbols for which an archive of this source is refused."""
    return list(purity.refused(purity.undefined_symbols(archive(folder, source))))


def test_a_symbol_of_a_room_above_is_found_although_its_declaration_stands_below(rooms, tmp_path):
    archives = {
        "base": archive(tmp_path, "int from_above(); int text() { return from_above(); }", "base"),
        "wire": archive(tmp_path, "int text(); int frame() { return text(); }", "wire"),
        "node": archive(tmp_path, "int from_above() { return 1; }", "node"),
    }
    allowed = linked_symbols.open_targets(rooms.root)
    (found,) = linked_symbols.breaches(archives, allowed)
    assert found == "base needs a symbol of node: from_above()"
    # A symbol that none of them defines is a library's.
    del archives["node"]
    assert list(linked_symbols.breaches(archives, allowed)) == []


PURE = """
#include <map>
#include <string>
#include <vector>
std::string f(std::map<int, std::string> m, std::vector<int> v) {
    v.resize(m.size());
    return m[static_cast<int>(v.size())] + std::to_string(v.at(0));
}
"""
DOORS = {
    "clock": "#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }",
    "posix clock": "#include <ctime>\nint f() { timespec t; return clock_gettime(1, &t); }",
    "time": "#include <ctime>\nauto f() { return std::time(nullptr); }",
    "entropy": "#include <random>\nauto f() { return std::random_device{}(); }",
    "rand": "#include <cstdlib>\nint f() { return std::rand(); }",
    "socket": "#include <sys/socket.h>\nint f() { return socket(1, 1, 0); }",
    "file": '#include <fstream>\nvoid f() { std::ofstream{"a"} << 1; }',
    "stdio": '#include <cstdio>\nvoid f() { std::puts("a"); }',
    "console": "#include <iostream>\nvoid f() { std::cout << 1; }",
    "thread": "#include <thread>\nvoid f() { std::thread{[] {}}.join(); }",
    "mutex": "#include <mutex>\nstd::mutex m;\nvoid f() { m.lock(); }",
    "environment": '#include <cstdlib>\nchar* f() { return std::getenv("A"); }',
}


def test_containers_and_strings_are_pure(tmp_path):
    assert refused(tmp_path, PURE) == []


@pytest.mark.parametrize("source", DOORS.values(), ids=DOORS)
def test_each_door_to_the_outside_is_found(tmp_path, source):
    assert refused(tmp_path, source) != []


def test_includes_keep_to_the_rules():
    assert list(include_rules.breaches(ROOT)) == []


def test_rooms_keep_to_their_table():
    assert list(include_rules.room_breaches(ROOT)) == []
    assert list(include_rules.link_breaches(ROOT)) == []


def test_the_library_has_no_part_of_the_program():
    linked = include_rules.open_to("api", include_rules.room_table(ROOT))
    assert {"node", "http"} < linked
    assert not linked & {
        "cli",
        "verify",
        "manual",
        "task/supervisor",
        "task/address",
        "task/attach",
    }


def test_no_folder_is_in_a_circle_of_includes():
    assert include_rules.circles(ROOT, include_rules.folder) == set()


def test_no_file_is_in_a_circle_of_includes():
    assert include_rules.circles(ROOT, include_rules.pair) == set()


def test_sources_keep_to_the_style():
    assert list(style_rules.breaches(ROOT)) == []


def test_the_protocol_is_pure():
    built = os.environ["BULLRING_PROTOCOL_ARCHIVE"]
    assert list(purity.refused(purity.undefined_symbols(built))) == []


def test_no_room_needs_a_symbol_of_a_room_above_it():
    build = pathlib.Path(os.environ["BULLRING_PROTOCOL_ARCHIVE"]).parents[1]
    archives = linked_symbols.archives_of(build)
    allowed = linked_symbols.open_targets(ROOT)
    assert set(archives) >= {"protocol", "settings", "security", "node", "cli"}
    assert list(linked_symbols.breaches(archives, allowed)) == []


@pytest.mark.parametrize(
    "line",
    [
        "auto one = std::thread([] {});",
        "std::thread one(work);",
        "std::thread one{work};",
        "std::jthread one;",
        "std::async(work);",
        "pthread_create(&one, nullptr, work, nullptr);",
    ],
)
def test_a_thread_handles_no_signal(tree, line):
    text = f"// Owns: a.\n{line}\n"
    assert len(style(tree, "src/a.cpp", text)) == 1


def test_a_thread_may_be_named_and_kept(tree):
    text = "// Owns: a.\nstd::thread thread_;\nstd::thread::id id = std::this_thread::get_id();\n"
    assert style(tree, "src/a.cpp", text) == []
