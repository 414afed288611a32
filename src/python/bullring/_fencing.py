"""The rule of a fenced resource, for one that is written to."""

from __future__ import annotations

import fcntl
import os
import threading


class FencingGuard:
    """Remembers the highest epoch that it has admitted, and refuses lower ones. Threads may share
    one; with a file it is durable, and processes may share it, those that use the C++ class
    included."""

    _BYTES = 21  # twenty digits and a line end, always

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._mutex = threading.Lock()
        self._highest = 0
        self._synced = 0
        self._path = path
        self._file: int | None = None
        if path is None:
            return
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)  # or a new file could be gone after a crash, and its epoch with it
            self._highest = self._read()
        except BaseException:
            os.close(self._file)
            raise
        finally:
            os.close(directory)

    def admit(self, epoch: int) -> bool:
        """False: a newer leader has been here, and the request must be refused. A new leader has
        to be admitted before it reads what it will act on. A new epoch is on the disk before this
        returns True. Raises OSError and ValueError when the file can't be used: refuse then, too."""
        with self._mutex:
            if epoch <= 0 or epoch < self._highest:
                return False
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX)
                try:
                    self._highest = self._read()
                    if epoch < self._highest:
                        return False
                    if epoch > self._highest:
                        os.pwrite(self._file, b"%020d\n" % epoch, 0)
                    if epoch != self._synced:  # its writer may have died before it was there
                        os.fdatasync(self._file)
                    self._synced = epoch
                finally:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
            self._highest = epoch
            return True

    @property
    def highest(self) -> int:
        """The highest epoch admitted here; 0 when there was none."""
        return self._highest

    def _read(self) -> int:
        assert self._file is not None
        text = os.pread(self._file, self._BYTES + 1, 0)
        if not text:
            return 0
        if len(text) != self._BYTES or not text[:-1].isdigit() or text[-1:] != b"\n":
            raise ValueError(
                f"{self._path} does not hold an epoch: 20 digits and a line end; write the highest "
                "epoch that was admitted into a damaged one"
            )
        return int(text)

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            os.close(self._file)  # type: ignore[arg-type]
