"""The rule of a fenced resource, for one that is written to."""

from __future__ import annotations

import fcntl
import operator
import os
import threading

EPOCH_MAX = 2**64 - 1


class FencingGuard:
    """Remembers the highest epoch that it has admitted, and refuses lower ones. Threads may share
    one; with a file it is durable, and processes may share it, those that use the C++ class
    included."""

    _BYTES = 21  # twenty digits and a line end, always

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._mutex = threading.Lock()
        self._highest = 0
        self._synced = 0
        self._path = None if path is None else os.path.abspath(path)
        if self._path is None:
            return
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        directory = os.open(os.path.dirname(self._path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)  # or a new file could be gone after a crash, and its epoch with it
        finally:
            os.close(directory)
        with _Locked(self._path) as file:
            self._highest = self._read(file)

    def admit(self, epoch: int) -> bool:
        """False: a newer leader has been here, and the request must be refused. A new leader has
        to be admitted before it reads what it will act on. A new epoch is on the disk before this
        returns True. Raises OSError and ValueError when the file can't be used: refuse then, too.
        """
        epoch = operator.index(epoch)
        if not 0 < epoch <= EPOCH_MAX:
            return False
        with self._mutex:
            if epoch < self._highest:
                return False
            if self._path is not None and not self._admit_durably(self._path, epoch):
                return False
            self._highest = epoch
            return True

    def _admit_durably(self, path: str, epoch: int) -> bool:
        with _Locked(path) as file:
            self._highest = self._read(file)
            if epoch < self._highest:
                return False
            if epoch > self._highest:
                os.pwrite(file, b"%020d\n" % epoch, 0)
            if epoch != self._synced:  # its writer may have died before it was there
                os.fdatasync(file)
            self._synced = epoch
            return True

    @property
    def highest(self) -> int:
        """The highest epoch admitted here; 0 when there was none."""
        return self._highest

    def _read(self, file: int) -> int:
        text = os.pread(file, self._BYTES + 1, 0)
        if not text:
            return 0
        right = len(text) == self._BYTES and text[:-1].isdigit() and text[-1:] == b"\n"
        if not right or int(text) > EPOCH_MAX:
            raise ValueError(
                f"{self._path} does not hold an epoch: 20 digits and a line end; write the highest "
                "epoch that was admitted into a damaged one"
            )
        return int(text)


class _Locked:
    """Opened each time: a forked child would share the lock of a descriptor that it inherits. One
    that was removed is not made again, for it would admit all."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> int:
        self._file = os.open(self._path, os.O_RDWR)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except BaseException:
            os.close(self._file)
            raise
        return self._file

    def __exit__(self, *error: object) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # a child may have been forked meanwhile
        finally:
            os.close(self._file)
