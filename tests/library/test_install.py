"""What users get who install the library: by CMake, by pkg-config, and from C."""

import os
import re
import unittest

from library_case import BUILD, ROOT, LibraryCase, run


class Install(LibraryCase):
    def test_cmake_shared_static_and_c(self):
        folder = self.build_consumer(ROOT / "tests" / "library" / "consumer")
        for program in ("consumer_bullring", "consumer_static", "consumer_c"):
            with self.subTest(program):
                self.leads(folder / program)

    def test_everything_is_installed_and_runs(self):
        prefix = self.place / "everything"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        self.assertRegex(run(prefix / "bin" / "bullring", "--version"), r"\d+\.\d+\.\d+")
        # What the project is tested with is no part of what was asked for, if it is not built.
        self.assertEqual((BUILD / "bullring-sim").exists(), (prefix / "bin" / "bullring-sim").exists())
        self.assertTrue((prefix / "include" / "bullring" / "version.hpp").exists())
        self.assertTrue(list(prefix.glob("lib/**/libbullring.so")))
        self.assertTrue(list(prefix.glob("lib/**/libbullring.a")))

    def test_the_command_line_of_the_readme_for_pkg_config(self):
        text = (ROOT / "README.md").read_text()
        line = re.search(r"(?m)^    (g\+\+ .*pkg-config .*)$", text)
        source = ROOT / "tests" / "library" / "consumer" / "main.cpp"
        (self.place / "service.cpp").write_text(source.read_text())
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        run("sh", "-c", line.group(1), cwd=self.place, env=environment)
        # The loader finds the library without the caller's help.
        self.leads(self.place / "service", library_path=False)

    def test_the_first_example_of_the_readme_compiles(self):
        text = (ROOT / "README.md").read_text()
        example = text[text.index("    #include <bullring") : text.index("[Library](#library) goes on")]
        include, body = example.replace("\n    ", "\n").strip().split("\n", 1)
        source = self.place / "readme.cpp"
        source.write_text(
            f"{include}\nint next_row();\nvoid write(int row, std::uint64_t epoch);\n"
            f"int main() {{\n{body}\n}}\n"
        )
        run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
            "-I", self.prefix / "include", source)  # fmt: skip

    def test_headers_need_the_standard_library_alone(self):
        header = self.prefix / "include" / "bullring" / "bullring.hpp"
        needed = run("c++", "-std=c++20", "-M", "-I", self.prefix / "include", header)
        for library in ("asio", "spdlog", "cereal", "fmt/", "nlohmann", "protocol/"):
            self.assertNotIn(library, needed)

    def test_only_the_interface_is_visible(self):
        symbols = run("nm", "-DC", "--defined-only", self.libraries / "libbullring.so")
        foreign = [
            line for line in symbols.splitlines()
            if re.search(r" [TBDR] ", line)
            and not re.search(r" (bullring_\w+$|bullring::(Node|Leadership|Observer|Options|"
                              r"ConfigError|NodeError|set_log_handler))", line)
        ]  # fmt: skip
        self.assertEqual([], foreign)
        self.assertRegex(
            run("readelf", "-d", self.libraries / "libbullring.so"), r"SONAME.*\[libbullring.so.0\]"
        )


if __name__ == "__main__":
    unittest.main()
