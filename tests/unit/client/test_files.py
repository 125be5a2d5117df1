"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
import torch

from fhelium_ir.client.files import (
    Label,
    NewFile,
    read_tensors,
    tensor_file,
    write_files,
)
from fhelium_ir.compiler.errors import FheliumError

LABEL = Label("things", "hash", False, "id", "program")


def test_all_files_are_written(tmp_path: Path) -> None:
    write_files([NewFile(tmp_path / "a", b"1", 0o600), NewFile(tmp_path / "b", b"2")])
    assert (tmp_path / "a").read_bytes() == b"1" and (tmp_path / "b").read_bytes() == b"2"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_none_is_written_if_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    for bad, reason in [
        (tmp_path / "none" / "b", "No such file"),
        (tmp_path / "folder", "Is a directory"),
        (tmp_path / "x\0y", "null"),
    ]:
        with pytest.raises(FheliumError) as caught:
            write_files([NewFile(tmp_path / "a", b"new"), NewFile(bad, b"b")])
        assert "cannot write" in caught.value.message and reason in caught.value.message
        assert (tmp_path / "a").read_bytes() == b"old"
        assert {path.name for path in tmp_path.iterdir()} == {"a", "folder"}


def test_nothing_is_left_after_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files([NewFile(tmp_path / "a", b"new")])
    assert list(tmp_path.iterdir()) == []


def test_tensors_and_labels_round_trip(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6).reshape(2, 3), "b": torch.tensor([1, -1], dtype=torch.int8)}
    path = tmp_path / "t"
    path.write_bytes(tensor_file(tensors, LABEL))
    found, label = read_tensors(path, "things", "hash")
    assert label == LABEL
    assert sorted(found) == ["a", "b"]
    assert torch.equal(found["a"], tensors["a"]) and torch.equal(found["b"], tensors["b"])
    only, _ = read_tensors(path, "things", "hash", ("b", "c"))
    assert list(only) == ["b"]


def test_tensors_do_not_change_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(tensor_file({"a": torch.arange(6)}, LABEL))
    found, _ = read_tensors(path, "things", "hash")
    with path.open("r+b") as stream:
        stream.seek(-48, os.SEEK_END)
        stream.write(bytes(48))
    assert torch.equal(found["a"], torch.arange(6))
    with pytest.raises(FheliumError, match="the checksum of 'a' differs"):
        read_tensors(path, "things", "hash")


@pytest.mark.parametrize(
    "content, parameters, message",
    [
        ("others", "hash", "does not hold others, it holds things"),
        ("things", "hush", "was made for other parameters"),
    ],
)
def test_labels_are_compared(tmp_path: Path, content: str, parameters: str, message: str) -> None:
    path = tmp_path / "t"
    path.write_bytes(tensor_file({}, LABEL))
    with pytest.raises(FheliumError, match=message):
        read_tensors(path, content, parameters)
