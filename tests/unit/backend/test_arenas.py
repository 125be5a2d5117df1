"""Arenas that runs leave to each other."""

from __future__ import annotations

import torch

from fhelium_ir.backend.arenas import Arenas


def test_a_buffer_comes_back_when_its_last_view_is_gone() -> None:
    arenas = Arenas()
    first = arenas.take(1 << 20)
    place = first.data_ptr()
    view = torch.as_strided(first.view(torch.int64), (3,), (1,), 5)
    del first
    view.fill_(7)
    second = arenas.take(1 << 20)
    assert second.data_ptr() != place
    assert torch.equal(view, torch.full((3,), 7))
    del view
    third = arenas.take(1 << 20)
    assert third.data_ptr() == place
    assert third.dtype == torch.int8 and third.shape == (1 << 20,) and place % 64 == 0


def test_sizes_are_apart_and_one_buffer_is_kept() -> None:
    arenas = Arenas()
    tensors = [arenas.take(size) for size in (4096, 8192, 4096)]
    places = {tensor.data_ptr() for tensor in tensors}
    assert len(places) == 3
    tensors.clear()
    found = [arenas.take(4096), arenas.take(8192)]
    assert {tensor.data_ptr() for tensor in found} < places
