"""Entries on disk: damage, foreign writers, concurrent writers, directories that cannot be used."""

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from fhelium_ir.lowering.cpu.object_cache import ObjectCache, default_cache

KEY = "0f" * 32
DATA = bytes(range(256)) * 7


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "a" / "objects")


def entry(cache: ObjectCache) -> Path:
    assert cache.directory is not None
    return cache.directory / KEY


def test_what_is_written_is_read(cache: ObjectCache) -> None:
    assert cache.read(KEY) is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA
    assert cache.read("0e" * 32) is None
    assert cache.directory is not None
    assert [path.name for path in cache.directory.iterdir()] == [KEY], "no temporary is left"
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700


def test_every_flipped_byte_is_noticed(cache: ObjectCache) -> None:
    cache.write(KEY, DATA)
    whole = entry(cache).read_bytes()
    header = len(whole) - len(DATA)
    for position in [*range(header), header, header + 900, len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[position] ^= 0x20
        entry(cache).write_bytes(damaged)
        assert cache.read(KEY) is None, position
    entry(cache).write_bytes(whole)
    assert cache.read(KEY) == DATA


def test_every_truncation_and_extension_is_noticed(cache: ObjectCache) -> None:
    cache.write(KEY, DATA)
    whole = entry(cache).read_bytes()
    header = len(whole) - len(DATA)
    for length in [0, 1, header - 1, header, header + 1, len(whole) - 1]:
        entry(cache).write_bytes(whole[:length])
        assert cache.read(KEY) is None, length
    entry(cache).write_bytes(whole + b"\0")
    assert cache.read(KEY) is None


def test_entry_of_another_key_is_stale(cache: ObjectCache) -> None:
    cache.write("0e" * 32, DATA)
    entry(cache).with_name("0e" * 32).rename(entry(cache))
    assert cache.read(KEY) is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entries_that_others_may_write_are_not_read(cache: ObjectCache, mode: int) -> None:
    cache.write(KEY, DATA)
    entry(cache).chmod(mode)
    assert cache.read(KEY) is None
    entry(cache).chmod(0o644)
    assert cache.read(KEY) == DATA


def test_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "objects"):
        cache = ObjectCache(path)
        cache.write(KEY, DATA)
        assert cache.read(KEY) is None
    assert (tmp_path / "file").read_text() == "x"


def test_entry_that_is_a_directory(cache: ObjectCache) -> None:
    entry(cache).mkdir(parents=True)
    (entry(cache) / "x").touch()
    cache.write(KEY, DATA)
    assert cache.read(KEY) is None
    assert cache.directory is not None
    assert [path.name for path in cache.directory.iterdir()] == [KEY], "no temporary is left"


def test_directory_without_write_permission(
    cache: ObjectCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The superuser may write anywhere, so the refusal is played."""
    cache.write(KEY, DATA)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    cache.write("0e" * 32, DATA)
    assert cache.read("0e" * 32) is None
    assert cache.read(KEY) == DATA, "what is there is still used"


def test_full_disk_leaves_no_entry(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    cache.write(KEY, DATA)
    assert cache.directory is not None
    assert list(cache.directory.iterdir()) == []


def _write_often(directory: str, number: int) -> None:
    cache = ObjectCache(Path(directory))
    for _ in range(60):
        cache.write(KEY, bytes([number]) * (100_000 + number))


def test_concurrent_writers_never_show_a_mixture(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_write_often, args=(str(tmp_path), number)) for number in (1, 2, 3)
    ]
    for writer in writers:
        writer.start()
    cache = ObjectCache(tmp_path)
    whole = {bytes([number]) * (100_000 + number) for number in (1, 2, 3)}
    seen = 0
    while any(writer.is_alive() for writer in writers):
        if (tmp_path / KEY).exists():
            assert cache.read(KEY) in whole
            seen += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert seen > 0
    assert [path.name for path in tmp_path.iterdir()] == [KEY]


def test_where_the_cache_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FHELIUM_CACHE_DIR", "off")
    assert default_cache().directory is None
    monkeypatch.setenv("FHELIUM_CACHE_DIR", str(tmp_path))
    assert default_cache().directory == tmp_path / "objects"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("FHELIUM_CACHE_DIR")
        else:
            monkeypatch.setenv("FHELIUM_CACHE_DIR", unset)
        assert default_cache().directory == tmp_path / "home" / ".cache" / "fhelium-ir" / "objects"


def test_disabled_cache_keeps_nothing() -> None:
    cache = ObjectCache(None)
    cache.write(KEY, DATA)
    assert cache.read(KEY) is None
