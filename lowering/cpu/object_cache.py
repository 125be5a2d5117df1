"""Object files on disk, under a key that says everything about them.

An entry is one file: a line of magic, the key, the SHA-256 of the object, the object. It appears
by renaming a finished file, so readers never see half of it, and writers of the same key replace
each other's equal results. What does not verify is as good as absent.

Loading an entry runs it: entries that others than this user (or root) may write are not read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

DIRECTORY_VARIABLE = "FHELIUM_CACHE_DIR"
_MAGIC = b"fhelium-ir object 1\n"
_FOREIGN_WRITERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class ObjectCache:
    """Objects by key; every failure of the file system counts as an absent entry.

    Attributes:
        directory: where entries lie, or None: nothing is kept.
    """

    directory: Path | None

    def read(self, key: str) -> bytes | None:
        """The object of a key, or None where there is no sound one."""
        if self.directory is None:
            return None
        try:
            with (self.directory / key).open("rb") as file:
                if not _only_ours(os.fstat(file.fileno())):
                    return None
                found = file.read()
        except OSError:
            return None
        return _decode(key, found)

    def write(self, key: str, data: bytes) -> None:
        """Keeps an object, if the directory can be written."""
        if self.directory is None:
            return
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix="new-", dir=self.directory)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_encode(key, data))
            os.replace(temporary, self.directory / key)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def default_cache() -> ObjectCache:
    """The user's cache: `$FHELIUM_CACHE_DIR/objects`, or ~/.cache/fhelium-ir/objects if not set.

    The value `off` disables it.
    """
    chosen = os.environ.get(DIRECTORY_VARIABLE, "")
    if chosen == "off":
        return ObjectCache(None)
    try:
        root = Path(chosen) if chosen else Path.home() / ".cache" / "fhelium-ir"
    except RuntimeError:  # no home directory
        return ObjectCache(None)
    return ObjectCache(root / "objects")


def _encode(key: str, data: bytes) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    return b"".join((_MAGIC, key.encode(), b"\n", digest.encode(), b"\n", data))


def _decode(key: str, found: bytes) -> bytes | None:
    header = len(_MAGIC) + len(key) + 1 + 2 * hashlib.sha256().digest_size + 1
    data = found[header:]
    return data if data and found[:header] == _encode(key, data)[:header] else None


def _only_ours(status: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & _FOREIGN_WRITERS
