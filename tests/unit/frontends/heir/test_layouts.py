"""The layout of a program does what HEIR's own helper functions do."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fhelium_ir.client.layout import Layout, TensorInput
from fhelium_ir.frontends.frontend import make_frontend
from tests.unit.frontends.heir.running import programs, stored
from tests.unit.frontends.heir.texts import body, ciphertext, encode, function, module, plaintext

C2 = ciphertext(2)
ROLE = 'heir.interface = {{func_name = "f", index = {} : i64, roles = ["{}"]}}'
NAMES = tuple(programs().BUILDERS)


@pytest.mark.parametrize(
    ("name", "release", "options"),
    [(name, release, "") for name in NAMES for release in programs().RELEASES]
    + [("weighing", programs().RELEASES[0], " levels=managed")],
)
def test_layouts_of_the_examples(name: str, release: str, options: str) -> None:
    program = programs().stored_programs()[name]
    client = (
        make_frontend(f"heir{{range={program.bound}{options}}}")
        .read(stored(name, release), name)
        .client
    )
    assert client is not None
    layout = Layout.of_facts(json.loads(json.dumps(client.layout(name).facts())))
    inputs = client.random_inputs(name, 5)
    expected = client.pack(name, inputs)
    assert sorted(name for name, _ in layout.vectors) == sorted(expected)
    public = [n for n in expected if n.startswith("plain")]
    for encrypted in (True, False):
        mine = {t.name: inputs[t.name].tolist() for t in layout.given(encrypted)}
        names = [n for n in expected if (n in public) != encrypted]
        packed = layout.pack(layout.read(mine, encrypted), names, encrypted)
        assert all(np.array_equal(packed[n], expected[n]) for n in names)
    size = (len(layout.results), layout.slots)
    slots = np.random.default_rng(6).normal(size=size) + 0j
    for mine, theirs in zip(
        layout.unpack(list(slots)), client.unpack(name, list(slots)), strict=True
    ):
        assert mine.shape == theirs.shape
        assert np.array_equal(mine, theirs)


def helpers(scale: float, argument: str = "tensor<2x4xf32>") -> str:
    """A module whose helper functions multiply by a number: it is 1 where they only move."""
    t8 = "tensor<8xf32>"
    encrypt = function(
        "f__encrypt__arg0",
        [("%v", argument), ("%sk", "!lwe.key")],
        [
            f'%k = "arith.constant"() <{{value = dense<{scale}> : {argument}}}> : () -> {argument}',
            f'%m = "arith.mulf"(%v, %k) : ({argument}, {argument}) -> {argument}',
            f'%flat = "tensor.collapse_shape"(%m) <{{reassociation = [[0, 1]]}}> : ({argument}) -> {t8}',
            encode("%p", "%flat", t8),
            f'%r = "lwe.rlwe_encrypt"(%p, %sk) : ({plaintext()}, !lwe.key) -> {C2}',
        ],
        [("%r", C2)],
        ROLE.format(0, "client.encrypt"),
    )
    decrypt = function(
        "f__decrypt__result0",
        [("%c", C2), ("%sk", "!lwe.key")],
        [
            f'%p = "lwe.rlwe_decrypt"(%c, %sk) : ({C2}, !lwe.key) -> {plaintext()}',
            f'%v = "lwe.rlwe_decode"(%p) : ({plaintext()}) -> {t8}',
            '%i = "arith.constant"() <{value = 3 : index}> : () -> index',
            f'%e = "tensor.extract"(%v, %i) : ({t8}, index) -> f32',
            f'%k = "arith.constant"() <{{value = {scale} : f32}}> : () -> f32',
            '%r = "arith.mulf"(%e, %k) : (f32, f32) -> f32',
        ],
        [("%r", "f32")],
        ROLE.format(0, "client.decrypt"),
    )
    entry = function(
        "f",
        [("%x", C2)],
        [f'%r = "ckks.negate"(%x) : ({C2}) -> {C2}'],
        [("%r", C2)],
        ROLE.format(0, "entry"),
    )
    return module(encrypt, decrypt, entry)


def layout_of(text: str) -> Layout:
    client = make_frontend("heir{range=2}").read(text, "heir.mlir").client
    assert client is not None
    return client.layout("f")


def test_helpers_that_move() -> None:
    layout = layout_of(helpers(1.0))
    assert layout.inputs == (TensorInput("arg0", (2, 4), 2.0, True),)
    assert [(name, moves.text) for name, moves in layout.vectors] == [("arg0", "0..7")]
    assert [(r.shape, r.moves.text) for r in layout.results] == [((), "3")]


def test_helpers_that_compute_leave_the_vectors() -> None:
    layout = layout_of(helpers(0.5))
    assert layout.inputs == (TensorInput("arg0", (8,), 2.0, True),)
    assert [(name, moves.text) for name, moves in layout.vectors] == [("arg0", "0..7")]
    assert [(r.shape, r.moves.text) for r in layout.results] == [((1, 8), "0..7")]


def test_plaintexts_that_are_computed_are_given_as_vectors() -> None:
    t8 = "tensor<8xf32>"
    lines = [
        encode("%p", "%p0", t8),
        f'%s = "arith.mulf"(%p0, %p1) : ({t8}, {t8}) -> {t8}',
        encode("%q", "%s", t8),
        f'%a = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%r = "ckks.add_plain"(%a, %q) : ({C2}, {plaintext()}) -> {C2}',
    ]
    layout = layout_of(body(*lines, inputs=[t8, t8]))
    assert [tensor.name for tensor in layout.given(True)] == ["arg0", "arg1"]
    assert layout.given(False) == (
        TensorInput("plain0", (8,), 2.0, False),
        TensorInput("plain1", (8,), 2.0, False),
    )
    packed = layout.pack(
        {"plain0": np.arange(8.0), "plain1": np.arange(8.0, 16)}, ["plain0", "plain1"], False
    )
    assert packed["plain1"].tolist() == list(range(8, 16))


def test_plaintexts_of_several_public_arguments() -> None:
    t8 = "tensor<8xf32>"
    lines = [
        encode("%p", "%p1", t8),
        f'%a = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext()}) -> {C2}',
        encode("%q", "%p0", t8),
        f'%r = "ckks.add_plain"(%a, %q) : ({C2}, {plaintext()}) -> {C2}',
    ]
    layout = layout_of(body(*lines, inputs=[t8, t8]))
    assert [tensor.name for tensor in layout.given(False)] == ["arg2", "arg3"]
    vectors = {name: moves.text for name, moves in layout.vectors}
    assert vectors == {"arg0": "0..7", "arg1": "8..15", "plain0": "8..15", "plain1": "0..7"}
