# ctest-processors: 1
"""The state directory: corrupt, foreign, taken, unwritable, full, failing. Never a fresh start."""

import os
import shutil
import subprocess
import unittest

from process_case import DEADLINE, ProcessCase

ROOT_ONLY = unittest.skipUnless(os.geteuid() == 0, "only root can do this to a directory")


class StateDirectory(ProcessCase):
    def setUp(self):
        self.one = self.cluster(1)

    def used(self):
        """A directory that a cluster of one has used."""
        self.one.start()
        self.one.wait_settled()
        self.one[1].kill()
        self.one[1].wait_exit()
        return self.one[1].data_dir

    def check_fails(self, words, node=None, status=1, extra=()):
        node = node or self.one[1]
        node.start(extra)
        node.current.expected_to_run = False
        self.assertEqual(node.wait_exit(), status, node.current.log())
        log = node.current.log()
        for word in words:
            self.assertIn(word, log)
        self.assertNotIn("terminate called", log)
        self.assertFalse(node.current.stream.of("elected"))
        return log

    @staticmethod
    def state_file(directory):
        return directory / "state"

    def test_every_corrupted_byte_is_noticed(self):
        directory = self.used()
        file = self.state_file(directory)
        sound = file.read_bytes()
        places = sorted({0, 1, len(sound) // 3, len(sound) // 2, len(sound) - 1})
        for place in places:
            with self.subTest(place=place):
                broken = bytearray(sound)
                broken[place] ^= 0x41
                file.write_bytes(bytes(broken))
                self.check_fails([str(directory)])
                self.assertEqual(file.read_bytes(), bytes(broken), "it is left for the operator")

    def test_a_truncated_file_is_noticed(self):
        directory = self.used()
        file = self.state_file(directory)
        sound = file.read_bytes()
        for size in (0, 1, len(sound) // 2, len(sound) - 1):
            with self.subTest(size=size):
                file.write_bytes(sound[:size])
                self.check_fails([str(directory)])
        file.write_bytes(sound + b"x")
        self.check_fails([str(directory)])

    def test_another_cluster(self):
        self.used()
        self.check_fails(["bullring", "other"], extra=["--cluster", "other"])

    def test_another_node(self):
        directory = self.used()
        peers = f"1=127.0.0.1:{self.one[1].port},2=127.0.0.1:{self.one.ports.take()}"
        self.check_fails(["1", "2"], extra=["--id", "2", "--peers", peers])
        self.assertTrue(self.state_file(directory).exists())

    def test_another_member_set(self):
        self.used()
        peers = f"{self.one.peers},8=127.0.0.1:{self.one.ports.take()}"
        self.check_fails(["8"], extra=["--peers", peers])

    def test_in_use_by_another_process(self):
        self.one.start()
        self.one.wait_settled()
        second = self.cluster(1)
        second[1].data_dir = self.one[1].data_dir
        events = str(second.directory / "events")
        second[1].start(["--events", events])
        second[1].current.expected_to_run = False
        self.assertEqual(second[1].wait_exit(), 1)
        self.assertIn(str(self.one[1].data_dir), second[1].current.log())
        self.assertTrue(self.one[1].leads)

    def test_the_directory_is_made_with_its_parents(self):
        self.one[1].start(["--data-dir", str(self.one.directory / "a" / "b" / "c")])
        self.one.wait_leader()
        self.assertTrue(self.state_file(self.one.directory / "a" / "b" / "c").exists())

    def test_a_file_where_the_directory_should_be(self):
        self.one[1].data_dir.write_text("not a directory")
        self.check_fails([str(self.one[1].data_dir)])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_an_unwritable_directory(self):
        directory = self.one[1].data_dir
        directory.mkdir(mode=0o500)
        self.check_fails([str(directory)])

    def test_a_directory_that_no_one_can_write(self):
        self.check_fails(["/proc"], extra=["--data-dir", "/proc/bullring"])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_a_failed_fsync_ends_the_process(self):
        self.one[1].prefix = [
            "strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
            "-e", "inject=fsync,fdatasync:error=EIO",
        ]  # fmt: skip
        if not self._strace_works():
            self.skipTest("strace may not trace here")
        self.check_fails([str(self.one[1].data_dir)])

    @staticmethod
    def _strace_works():
        tried = subprocess.run(
            ["strace", "-o", "/dev/null", "true"], capture_output=True, timeout=DEADLINE
        )
        return tried.returncode == 0

    @ROOT_ONLY
    def test_a_full_disk_ends_the_process(self):
        directory = self.one[1].data_dir
        directory.mkdir()
        script = (
            'mount -t tmpfs -o size=16k tmpfs "$0" || exit 99;'
            'head -c 1000000 /dev/zero > "$0/filling" 2>/dev/null; exec "$@"'
        )
        self.one[1].prefix = ["unshare", "-m", "sh", "-c", script, str(directory)]
        self.one[1].start()
        self.one[1].current.expected_to_run = False
        status = self.one[1].wait_exit()
        if status == 99:
            self.skipTest("no tmpfs can be mounted here")
        self.assertEqual(status, 1, self.one[1].current.log())
        self.assertIn(str(directory), self.one[1].current.log())
        self.assertFalse(self.one[1].current.stream.of("elected"))


if __name__ == "__main__":
    unittest.main()
