# ctest-processors: 1
"""The checks that compile can fail, and forget what they found good as soon as it changes."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = ROOT / "scripts" / "lib" / "compile_checks.py"


@unittest.skipUnless(shutil.which("clang++-16"), "clang 16 is not installed")
class CompileChecks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bullring-house-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.build = self.root / "build-clang"
        self.build.mkdir()
        shutil.copy(ROOT / ".clang-tidy", self.root)
        self.plant("src/doors.hpp", "#pragma once\ninline int doors() { return 2; }\n")
        sources = [f"{self.root}/{room}/room.cpp" for room in ("src", "tests")]
        for source in sources:
            text = '#include "src/doors.hpp"\nint windows() { return doors(); }\n'
            self.plant(source, text)
        compiler = f"clang++-16 -std=c++20 -Wall -I{self.root} -o room.o -c"
        (self.build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(self.build), "command": f"{compiler} {source}", "file": source}
            for source in sources]))

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self, kind):
        done = subprocess.run(
            [sys.executable, "-B", CHECKS, kind, self.build, "--root", self.root],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_good_sources_are_remembered_until_something_below_them_changes(self):
        for kind in ("headers", "syntax", "tidy"):
            if kind == "tidy" and not shutil.which("clang-tidy-16"):
                continue
            with self.subTest(kind):
                self.assertEqual((0, f"{kind}: 1 good (0 remembered), 0 bad\n"),
                                 self.untimed(self.check(kind)))
                self.assertEqual((0, f"{kind}: 1 good (1 remembered), 0 bad\n"), self.check(kind))
                self.plant("src/doors.hpp", f"#pragma once\ninline int doors() {{ return 3; }}  // {kind}\n")
                self.assertEqual((0, f"{kind}: 1 good (0 remembered), 0 bad\n"),
                                 self.untimed(self.check(kind)))

    @staticmethod
    def untimed(result):
        status, output = result
        return status, output.split(";")[0].rstrip() + "\n"

    def test_a_header_that_its_source_includes_first_is_left_out(self):
        self.plant("src/window.hpp", "#pragma once\ninline std::string name() { return {}; }\n")
        window = f"{self.root}/src/window.cpp"
        self.plant(window, '#include "src/window.hpp"\n')
        commands = json.loads((self.build / "compile_commands.json").read_text())
        commands.append({**commands[0], "file": window,
                         "command": commands[0]["command"].replace("room.cpp", "window.cpp")})
        (self.build / "compile_commands.json").write_text(json.dumps(commands))
        self.assertEqual(0, self.check("headers")[0])
        if shutil.which("clang-tidy-16"):
            status, output = self.check("tidy")
            self.assertEqual(1, status)
            self.assertIn("src/window.hpp", output)

    def test_a_header_that_leans_on_another_is_found(self):
        self.plant("src/lazy.hpp", "#pragma once\ninline std::string name() { return {}; }\n")
        status, output = self.check("headers")
        self.assertEqual(1, status)
        self.assertIn("headers: src/lazy.hpp", output)

    def test_a_warning_of_clang_is_found(self):
        for room, kind in {"tests": "syntax", "src": "tidy"}.items():
            with self.subTest(room):
                self.plant(f"{room}/room.cpp", "int windows() { int unused = 1; return 2; }\n")
                status, output = self.check(kind)
                self.assertEqual(1, status)
                self.assertIn("unused variable", output)

    @unittest.skipUnless(shutil.which("clang-tidy-16"), "clang-tidy 16 is not installed")
    def test_a_name_or_a_bug_that_clang_tidy_knows_is_found(self):
        self.plant("src/doors.hpp", "#pragma once\ninline int CountDoors() { return 2; }\n")
        self.plant("src/room.cpp", """#include "src/doors.hpp"
            #include <string>
            #include <utility>
            std::string twice(std::string a) {
                std::string b = std::move(a);
                return a + b + std::string(static_cast<unsigned>(CountDoors()), 'x');
            }
            """)
        status, output = self.check("tidy")
        self.assertEqual(1, status)
        self.assertIn("readability-identifier-naming", output)
        self.assertIn("bugprone-use-after-move", output)


if __name__ == "__main__":
    unittest.main()
