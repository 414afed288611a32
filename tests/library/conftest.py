"""The fixtures of the tests of the library as it is installed."""

import pathlib
import tempfile

import pytest
from harness.net import PortHolder
from installation import Installation


@pytest.fixture(scope="module")
def ports():
    """Ports of this host that nobody else gets."""
    held = PortHolder()
    yield held
    held.release()


@pytest.fixture(scope="module")
def installed(ports):
    """The library, installed once for all tests of a file."""
    with tempfile.TemporaryDirectory(prefix="bullring-library-") as folder:
        yield Installation(pathlib.Path(folder), ports)
