# ctest-processors: 1
"""Every script explains itself, refuses what it does not know, and fails where a part of it fails."""

import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted(p for p in (ROOT / "scripts").iterdir() if p.is_file())


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, **options)


class Scripts(unittest.TestCase):
    def test_each_is_executable_and_has_help(self):
        self.assertGreaterEqual({p.name for p in SCRIPTS}, {"setup", "build", "test", "check"})
        for script in SCRIPTS:
            with self.subTest(script.name):
                self.assertTrue(os.access(script, os.X_OK))
                done = run(script, "--help")
                self.assertEqual(0, done.returncode, done.stdout)
                self.assertIn(f"scripts/{script.name}", done.stdout)
                self.assertIn("--help", done.stdout)

    def test_an_unknown_argument_is_refused_and_named(self):
        for name in ("setup", "build", "test", "check"):
            with self.subTest(name):
                done = run(ROOT / "scripts" / name, "--no-such-flag")
                self.assertEqual(2, done.returncode, done.stdout)
                self.assertIn("--no-such-flag", done.stdout)

    def test_they_work_from_any_directory(self):
        done = run(ROOT / "scripts" / "setup", "--list", cwd="/")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^(installed|missing) +libasio-dev$")


class Bench(unittest.TestCase):
    def test_its_own_estimates_agree_with_what_its_help_says(self):
        done = run("python3", "-c", "import bench\n"
                   "for quick in (True, False): print(sum(c.seconds for c in bench.plan(quick)))",
                   cwd=ROOT / "scripts" / "lib")
        self.assertEqual(0, done.returncode, done.stdout)
        quick, whole = (float(line) / 60 for line in done.stdout.split())
        told = run(ROOT / "scripts" / "bench", "--help").stdout
        self.assertIn("at most five minutes", told)
        self.assertLess(quick, 5)
        self.assertRegex(told, r"about\s+an hour")
        self.assertTrue(50 < whole < 70, whole)


class Parts(unittest.TestCase):
    """The part command of scripts/lib/common.sh."""

    def shell(self, text):
        return run("bash", "-c", f'source "{ROOT}/scripts/lib/common.sh"\n{text}')

    def test_a_part_prints_its_time(self):
        done = self.shell("part 'say it' echo hello; parts_summary")
        self.assertEqual(0, done.returncode)
        self.assertRegex(done.stdout, r"=== say it\nhello\n=== say it: \d+\.\d s\n")
        self.assertRegex(done.stdout, r" \d+\.\d s  say it\n")

    def test_the_first_failing_part_ends_the_script_with_its_status(self):
        done = self.shell("fails() { false; echo not reached; }\n"
                          "part first sh -c 'exit 7'; echo not reached")
        self.assertEqual(7, done.returncode)
        self.assertNotIn("not reached", done.stdout)
        done = self.shell("fails() { false; echo not reached; }\npart second fails")
        self.assertEqual(1, done.returncode)
        self.assertNotIn("not reached", done.stdout)


if __name__ == "__main__":
    unittest.main()
