"""What users get who have the sources below their own project."""
# ctest-labels: long

import unittest

from library_case import ROOT, LibraryCase


class Subproject(LibraryCase):
    def test_fetch_content(self):
        folder = self.build_consumer(
            ROOT / "tests" / "library" / "subproject", f"-DBULLRING_SOURCE={ROOT}", "-GNinja"
        )
        self.leads(folder / "consumer")


if __name__ == "__main__":
    unittest.main()
