# ctest-processors: 1
"""The rules of the tree hold, and each of them can fail: a breach planted in a made-up tree is found."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import include_rules  # noqa: E402
import purity  # noqa: E402
import style_rules  # noqa: E402


class Tree(unittest.TestCase):
    """A made-up tree, in which a test plants files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bullring-house-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.plant("protocol/ids.hpp", "// Owns: ids.\n#pragma once\n#include <cstdint>\n")
        self.plant("protocol/lease.hpp", "// Owns: leases.\n#pragma once\n")
        self.plant("src/wire/codec.hpp", "// Owns: the codec.\n#pragma once\n")
        self.plant("sim/world.hpp", "// Owns: the world.\n#pragma once\n")

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def includes(self, path, include):
        """What the include rules say about one more file with one include."""
        self.plant(path, f"// Owns: a test.\n#include {include}\n")
        return list(include_rules.breaches(self.root))

    def style(self, path, text):
        self.plant(path, text)
        return list(style_rules.breaches(self.root))


class IncludeRules(Tree):
    def test_a_clean_tree_has_no_breach(self):
        self.plant("tests/unit/codec_test.cpp",
                   '#include <random>\n#include "src/wire/codec.hpp"\n#include "sim/world.hpp"\n')
        self.plant("src/wire/codec.cpp", '#include "src/wire/codec.hpp"\n#include <cereal/cereal.hpp>\n')
        self.plant("src/wire/codec_archive.hpp", "#include <cereal/archives/portable_binary.hpp>\n")
        self.plant("include/bullring/node.hpp", '#include <thread>\n#include "protocol/ids.hpp"\n')
        self.plant("sim/world.cpp", '#include <random>\n#include "protocol/lease.hpp"\n')
        self.assertEqual([], list(include_rules.breaches(self.root)))

    def test_the_protocol_may_not_reach_the_outside(self):
        for header in ("iostream", "fstream", "thread", "mutex", "chrono", "random",
                       "unordered_map", "sys/socket.h", "time.h", "asio.hpp", "atomic"):
            with self.subTest(header):
                found = self.includes("protocol/bad.cpp", f"<{header}>")
                self.assertEqual(1, len(found), found)
                self.assertIn("protocol/bad.cpp:2", found[0])

    def test_a_room_keeps_out_of_the_rooms_that_are_closed_to_it(self):
        for path, include in (
                ("protocol/bad.cpp", '"src/wire/codec.hpp"'),
                ("protocol/bad.cpp", '"sim/world.hpp"'),
                ("protocol/bad.cpp", "<src/wire/codec.hpp>"),
                ("src/bad.cpp", '"sim/world.hpp"'),
                ("src/commands/bad.cpp", '"sim/world.hpp"'),
                ("sim/bad.cpp", '"src/wire/codec.hpp"'),
                ("include/bullring/bad.hpp", '"src/wire/codec.hpp"'),
                ("include/bullring/bad.hpp", '"protocol/lease.hpp"'),
                ("include/bullring/bad.hpp", "<asio.hpp>"),
                ("src/session.cpp", "<cereal/cereal.hpp>"),
                ("src/commands/codec.cpp", "<cereal/cereal.hpp>")):
            with self.subTest(path=path, include=include):
                found = self.includes(path, include)
                self.assertEqual(1, len(found), found)
                (self.root / path).unlink()

    def test_an_include_names_a_file_from_the_root(self):
        for include in ('"codec.hpp"', '"../src/wire/codec.hpp"', '"src/nowhere.hpp"', "MACRO"):
            with self.subTest(include):
                self.assertEqual(1, len(self.includes("src/bad.cpp", include)))

    def test_spaces_and_comments_hide_nothing(self):
        self.plant("protocol/bad.cpp", "  #  include  <thread>  // for a reason\n#include<mutex>\n")
        self.assertEqual(2, len(list(include_rules.breaches(self.root))))


class StyleRules(Tree):
    def test_a_file_of_more_than_400_lines_is_too_long(self):
        self.assertEqual([], self.style("src/long.cpp", "// Owns: much.\n" + "int a;\n" * 399))
        found = self.style("src/long.cpp", "// Owns: too much.\n" + "int a;\n" * 400)
        self.assertEqual(1, len(found))
        self.assertIn("401 lines", found[0])

    def test_a_file_says_what_it_owns(self):
        self.assertEqual(1, len(self.style("src/a.cpp", "int a;\n")))
        self.assertEqual([], self.style("src/a.hpp", "// Owns: a.\n#pragma once\n"),
                         "a source follows its header's head")
        self.assertEqual([], self.style("src/a_more.cpp", "int b;\n"))
        self.assertEqual(1, len(self.style("src/another.cpp", "int c;\n")))

    def test_a_header_is_included_once(self):
        self.assertEqual(1, len(self.style("protocol/a.hpp", "// Owns: a.\nint a;\n")))

    def test_tests_do_not_wait_for_time(self):
        for path, line in (
                ("tests/unit/a_test.cpp", "std::this_thread::sleep_for(1s);"),
                ("tests/unit/a_test.cpp", "usleep (10);"),
                ("tests/process/test_a.py", "    time.sleep(0.5)"),
                ("tests/bench/a.sh", "sleep 1")):
            with self.subTest(line):
                self.assertEqual(1, len(self.style(path, line + "\n")))
                mark = "//" if path.endswith(".cpp") else "#"
                self.assertEqual([], self.style(path, f"{line}  {mark} pause: the lease runs out\n"))

    def test_unit_tests_can_be_replayed(self):
        for word in ("std::random_device seed;", "std::chrono::system_clock::now();"):
            with self.subTest(word):
                self.assertEqual(1, len(self.style("tests/unit/a_test.cpp", word + "\n")))

    def test_text_is_clean_and_finished(self):
        for text in ("int a; \n", "\tint a;\n", "int a;", "int a;  // TO" + "DO: more\n"):
            with self.subTest(text):
                self.assertEqual(1, len(self.style("src/a.cpp", "// Owns: a.\n" + text)))


class Purity(unittest.TestCase):
    def refused(self, source):
        """The symbols for which an archive of this source is refused."""
        with tempfile.TemporaryDirectory(prefix="bullring-house-") as folder:
            base = pathlib.Path(folder)
            (base / "a.cpp").write_text(source)
            subprocess.run(["c++", "-std=c++20", "-c", "-fPIC", "a.cpp"], cwd=base, check=True)
            subprocess.run(["ar", "rc", "liba.a", "a.o"], cwd=base, check=True)
            return list(purity.refused(purity.undefined_symbols(str(base / "liba.a"))))

    def test_containers_and_strings_are_pure(self):
        self.assertEqual([], self.refused("""
            #include <map>
            #include <string>
            #include <vector>
            std::string f(std::map<int, std::string> m, std::vector<int> v) {
                v.resize(m.size());
                return m[static_cast<int>(v.size())] + std::to_string(v.at(0));
            }"""))

    def test_each_door_to_the_outside_is_found(self):
        for name, source in {
                "clock": "#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }",
                "posix clock": "#include <ctime>\nlong f() { timespec t; clock_gettime(1, &t); "
                               "return t.tv_nsec; }",
                "time": "#include <ctime>\nauto f() { return std::time(nullptr); }",
                "entropy": "#include <random>\nauto f() { return std::random_device{}(); }",
                "rand": "#include <cstdlib>\nint f() { return std::rand(); }",
                "socket": "#include <sys/socket.h>\nint f() { return socket(1, 1, 0); }",
                "file": "#include <fstream>\nvoid f() { std::ofstream{\"a\"} << 1; }",
                "stdio": "#include <cstdio>\nvoid f() { std::puts(\"a\"); }",
                "console": "#include <iostream>\nvoid f() { std::cout << 1; }",
                "thread": "#include <thread>\nvoid f() { std::thread{[] {}}.join(); }",
                "mutex": "#include <mutex>\nstd::mutex m;\nvoid f() { m.lock(); }",
                "environment": "#include <cstdlib>\nchar* f() { return std::getenv(\"A\"); }",
        }.items():
            with self.subTest(name):
                self.assertNotEqual([], self.refused(source))


class ThisTree(unittest.TestCase):
    def test_includes_keep_to_the_rules(self):
        self.assertEqual([], list(include_rules.breaches(ROOT)))

    def test_sources_keep_to_the_style(self):
        self.assertEqual([], list(style_rules.breaches(ROOT)))

    def test_the_protocol_is_pure(self):
        archive = os.environ["BULLRING_PROTOCOL_ARCHIVE"]
        self.assertEqual([], list(purity.refused(purity.undefined_symbols(archive))))


if __name__ == "__main__":
    unittest.main()
