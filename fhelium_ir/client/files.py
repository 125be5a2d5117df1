"""Files of the client and the server: written whole or not at all, read with every part checked.

Tensor files are safetensors. Their metadata say what they hold, for which parameters, program and secret key, and the
SHA-256 of each tensor.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from fhelium_ir.compiler.errors import FheliumError

FORMAT = "fhelium-ir"
VERSION = "1"
"""Of all files; a reader refuses any other."""

PRIVATE, PUBLIC = 0o600, 0o666
"""Modes of files that only their owner may read, and of all others (less the umask)."""


@dataclass(frozen=True)
class NewFile:
    """A file to write: path, contents and mode."""

    path: Path
    data: bytes
    mode: int = PUBLIC


@dataclass(frozen=True)
class Label:
    """What a tensor file says about itself.

    Attributes:
        content: what it holds, in words.
        parameters: hash of the parameters.
        insecure: made from a test seed or under insecure parameters.
        identity: of the secret key that all belongs to.
        program: hash of the program's interface; empty for keys, which serve any program.
    """

    content: str
    parameters: str
    insecure: bool
    identity: str = ""
    program: str = ""


def write_files(files: Sequence[NewFile]) -> None:
    """Writes files so that after a failure none of them is new.

    Each is written and synchronized beside its place; once that has worked for all, they are renamed, which replaces
    an old file at once. Missing folders are not made.

    Raises:
        FheliumError: names the file that cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for file in files:
            path = file.path
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
            staged.append((temporary, path))
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(file.data)
                stream.flush()
                os.fsync(stream.fileno())
            if path.is_dir():
                raise IsADirectoryError(None, "Is a directory")
        for temporary, path in staged:
            os.replace(temporary, path)
    except (OSError, ValueError) as error:
        # ValueError: a path with a null character, or without a name.
        reason = error.strerror if isinstance(error, OSError) else None
        raise FheliumError(f"cannot write '{path}': {reason or error}") from error
    finally:
        for temporary, _ in staged:
            with suppress(OSError, ValueError):
                temporary.unlink()


def tensor_file(tensors: Mapping[str, torch.Tensor], label: Label) -> bytes:
    """The bytes of a tensor file; tensors are contiguous and on the CPU."""
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "content": label.content,
        "parameters": label.parameters,
        "insecure": "yes" if label.insecure else "no",
        "identity": label.identity,
        "program": label.program,
        "sha256": json.dumps({name: _digest(tensor) for name, tensor in tensors.items()}),
    }
    return save(dict(tensors), metadata)


class _Reader(Protocol):
    """What is used of safetensors' reader, which is not typed."""

    def metadata(self) -> dict[str, str] | None: ...
    def keys(self) -> list[str]: ...
    def get_tensor(self, name: str) -> torch.Tensor: ...


def read_tensors(
    path: Path, content: str, parameters: str, wanted: Collection[str] | None = None
) -> tuple[dict[str, torch.Tensor], Label]:
    """The tensors of a file, and what it says about itself.

    Args:
        content: what it must hold.
        parameters: hash of the parameters that it must be for.
        wanted: names of the tensors to read, where the file has them; None reads all.

    Raises:
        FheliumError: the file cannot be read, is truncated or damaged, or holds something else.
    """
    opened = cast("Callable[[str, str], AbstractContextManager[_Reader]]", safe_open)
    try:
        if path.is_dir():
            raise FheliumError(f"cannot read '{path}' as {content}: it is a folder")
        with opened(str(path), "pt") as reader:
            metadata = reader.metadata() or {}
            label = _label(path, metadata, content, parameters)
            digests = cast("dict[str, str]", json.loads(metadata["sha256"]))
            names = [name for name in reader.keys() if wanted is None or name in wanted]  # noqa: SIM118
            # Clones do not change with the file that is mapped.
            tensors = {name: reader.get_tensor(name).clone() for name in names}
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = "No such file" if isinstance(error, FileNotFoundError) else str(error)
        raise FheliumError(f"cannot read '{path}' as {content}: {reason}") from error
    for name, tensor in tensors.items():
        if digests.get(name) != _digest(tensor):
            raise FheliumError(f"'{path}' is damaged: the checksum of '{name}' differs")
    return tensors, label


def _label(path: Path, metadata: Mapping[str, str], content: str, parameters: str) -> Label:
    if metadata.get("format") != FORMAT:
        raise ValueError("it was not written by fhelium-ir")
    check_version(path, metadata.get("version"))
    found = metadata.get("content", "")
    if found != content:
        raise FheliumError(f"'{path}' does not hold {content}, it holds {found}")
    if metadata.get("parameters") != parameters:
        raise FheliumError(f"'{path}' was made for other parameters (its parameter hash differs)")
    return Label(
        found,
        parameters,
        metadata.get("insecure") != "no",
        metadata.get("identity", ""),
        metadata.get("program", ""),
    )


def check_version(path: Path, version: object) -> None:
    """Raises FheliumError unless a file has the version of this release."""
    if version != VERSION:
        raise FheliumError(f"'{path}' has format version {version}, this release reads {VERSION}")


def _digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.numpy().data).hexdigest()
