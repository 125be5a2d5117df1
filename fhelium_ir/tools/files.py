"""Reading and writing the files that the command line names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fhelium_ir.compiler.errors import FheliumError


def read_source(path: str) -> tuple[str, str]:
    """The name to show and the text of a file; `-` is standard input.

    Raises:
        FheliumError: if the file cannot be read or is not UTF-8 text.
    """
    name = "<stdin>" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise FheliumError(f"cannot read '{name}': {error.strerror or error}") from error
    except ValueError as error:
        # A path with a null character.
        raise FheliumError(f"cannot read {path!r}: {error}") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise FheliumError(f"not UTF-8 text: {error.reason}", f"{name}:{line}:{column}") from error
    return name, text


def write_output(path: str | None, text: str) -> None:
    """Write text to a file, or to standard output where `path` is None or `-`.

    A file appears whole or not at all: it is written beside its place and then renamed.

    Raises:
        FheliumError: if the file cannot be written.
    """
    if path is None or path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        _write_file(os.path.realpath(path), text)
    except OSError as error:
        raise FheliumError(f"cannot write '{path}': {error.strerror or error}") from error


def _write_file(path: str, text: str) -> None:
    data = text.encode("utf-8", errors="surrogateescape")
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device such as /dev/null must not be replaced by a file.
        with open(path, "wb") as file:
            file.write(data)
        return
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(temporary, os.stat(path).st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
