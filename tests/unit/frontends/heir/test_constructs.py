"""Constructs that HEIR's output may hold beside those of the examples, one small program each."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.frontends.frontend import make_frontend
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.universe import make_context
from tests.unit.frontends.heir.test_programs import X, Y, compute, index, names, read
from tests.unit.frontends.heir.texts import (
    STORAGE,
    body,
    ciphertext,
    encode,
    function,
    module,
    plaintext,
)

C2, C1 = ciphertext(2), ciphertext(1)
T8, T2 = "tensor<8xf32>", f"tensor<2x{C2}>"
I1 = '%t = "arith.constant"() <{value = true}> : () -> i1'
NEGATE = f'%r = "ckks.negate"(%x) : ({C2}) -> {C2}'


def rotated_by(*lines: str) -> int:
    """By how many steps `%k`, an index that the lines compute, rotates x."""
    text = body(*lines, f'%r = "ckks.rotate"(%x, %k) : ({C2}, index) -> {C2}')
    (result,) = compute(text)
    found = [k for k in range(8) if np.abs(result - np.roll(X, -k)).max() < 1e-12]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("op", "left", "right", "steps"),
    [
        ("minsi", -3, 2, 5),
        ("maxsi", -3, 2, 2),
        ("minui", -3, 2, 2),
        ("maxui", -3, 2, 5),
        ("ceildivsi", 7, 2, 4),
        ("ceildivsi", -7, 2, 5),
        ("ceildivui", 7, 2, 4),
        ("remui", 7, 4, 3),
        ("andi", 7, 5, 5),
        ("ori", 4, 1, 5),
        ("xori", 7, 5, 2),
        ("shli", 1, 2, 4),
        ("shrui", 13, 1, 6),
    ],
)
def test_integer_ops(op: str, left: int, right: int, steps: int) -> None:
    lines = (
        index("a", left),
        index("b", right),
        f'%k = "arith.{op}"(%a, %b) : (index, index) -> index',
    )
    assert rotated_by(*lines) == steps


def test_the_smaller_of_two_numbers_is_a_bound() -> None:
    """As tiled loops have it."""
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1), ("c2", 2), ("c5", 5))),
        '%n = "arith.minsi"(%c5, %c2) : (index, index) -> index',
        '%r = "scf.for"(%c0, %n, %c1, %x) ({',
        f"^bb0(%i: index, %in: {C2}):",
        f'%s = "ckks.add"(%in, %y) : ({C2}, {C2}) -> {C2}',
        f'"scf.yield"(%s) : ({C2}) -> ()',
        f"}}) : (index, index, index, {C2}) -> {C2}",
    )
    assert np.abs(compute(text)[0] - (X + 2 * Y)).max() < 1e-12


@pytest.mark.parametrize(
    ("op", "type_", "steps"),
    [("extui", "i8", 1), ("extsi", "i8", 7), ("index_cast", None, 7), ("index_castui", None, 1)],
)
def test_one_bit_is_minus_one_where_it_is_signed(op: str, type_: str | None, steps: int) -> None:
    if type_ is None:
        assert rotated_by(I1, f'%k = "arith.{op}"(%t) : (i1) -> index') == steps
        return
    wide = f'%w = "arith.{op}"(%t) : (i1) -> {type_}'
    assert rotated_by(I1, wide, f'%k = "arith.index_cast"(%w) : ({type_}) -> index') == steps


def test_truth_values_of_a_tensor() -> None:
    t3 = "tensor<3xi1>"
    lines = (
        I1,
        index("one", 1),
        f'%d = "arith.constant"() <{{value = dense<true> : {t3}}}> : () -> {t3}',
        f'%e = "tensor.extract"(%d, %one) : ({t3}, index) -> i1',
        '%same = "arith.cmpi"(%e, %t) <{predicate = 0 : i64}> : (i1, i1) -> i1',
        '%k = "arith.index_castui"(%same) : (i1) -> index',
    )
    assert rotated_by(*lines) == 1


def test_a_number_is_selected() -> None:
    lines = (
        I1,
        index("a", 3),
        index("b", 4),
        '%k = "arith.select"(%t, %a, %b) : (i1, index, index) -> index',
    )
    assert rotated_by(*lines) == 3


def test_a_rotation_by_an_attribute() -> None:
    text = body(f'%r = "ckks.rotate"(%x) <{{static_shift = 3 : i64}}> : ({C2}) -> {C2}')
    assert np.abs(compute(text)[0] - np.roll(X, -3)).max() < 1e-12


def test_ciphertexts_are_elements() -> None:
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1))),
        f'%t = "tensor.from_elements"(%x, %y) : ({C2}, {C2}) -> {T2}',
        f'%a = "tensor.extract"(%t, %c1) : ({T2}, index) -> {C2}',
        f'%b = "tensor.extract"(%t, %c0) : ({T2}, index) -> {C2}',
        f'%r = "ckks.sub"(%a, %b) : ({C2}, {C2}) -> {C2}',
    )
    assert np.abs(compute(text)[0] - (Y - X)).max() < 1e-12


def test_ciphertexts_are_joined_and_reshaped() -> None:
    t4, t22 = f"tensor<4x{C2}>", f"tensor<2x2x{C2}>"
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1))),
        f'%t = "tensor.from_elements"(%x, %y) : ({C2}, {C2}) -> {T2}',
        f'%j = "tensor.concat"(%t, %t) <{{dim = 0 : i64}}> : ({T2}, {T2}) -> {t4}',
        f'%e = "tensor.expand_shape"(%j) <{{reassociation = [[0, 1]], static_output_shape = array<i64: 2, 2>}}> : '
        f"({t4}) -> {t22}",
        f'%r = "tensor.extract"(%e, %c0, %c1) : ({t22}, index, index) -> {C2}',
    )
    assert np.abs(compute(text)[0] - Y).max() < 1e-12


def test_a_branch_without_results_stores_or_not() -> None:
    """Storage at indices that are computed from an induction variable, in the iterations that a branch picks."""
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1), ("c2", 2), ("c4", 4))),
        f'%h = "arith.constant"() <{{value = dense<0.5> : {T8}}}> : () -> {T8}',
        f'%q = "arith.constant"() <{{value = dense<0.25> : {T8}}}> : () -> {T8}',
        encode("%ph", "%h", T8),
        encode("%pq", "%q", T8),
        f'%s = "preprocessing.empty"() : () -> {STORAGE}',
        '"scf.for"(%c0, %c4, %c1) ({',
        "^bb0(%i: index):",
        '%twice = "arith.muli"(%i, %c2) : (index, index) -> index',
        '%odd = "arith.remsi"(%i, %c2) : (index, index) -> index',
        f'"preprocessing.store"(%ph, %s, %i, %twice) <{{site_id = 0 : i32}}> : ({plaintext()}, {STORAGE}, index, '
        "index) -> ()",
        '%is = "arith.cmpi"(%odd, %c1) <{predicate = 0 : i64}> : (index, index) -> i1',
        '"scf.if"(%is) ({',
        f'"preprocessing.store"(%pq, %s, %i, %twice) <{{site_id = 0 : i32}}> : ({plaintext()}, {STORAGE}, index, '
        "index) -> ()",
        '"scf.yield"() : () -> ()',
        "}, {",
        "}) : (i1) -> ()",
        '"scf.yield"() : () -> ()',
        "}) : (index, index, index) -> ()",
        f'%a = "preprocessing.load"(%s, %c1, %c2) <{{site_id = 0 : i32}}> : ({STORAGE}, index, index) -> {plaintext()}',
        f'%b = "preprocessing.load"(%s, %c2, %c4) <{{site_id = 0 : i32}}> : ({STORAGE}, index, index) -> {plaintext()}',
        f'%u = "lwe.radd_plain"(%x, %a) : ({C2}, {plaintext()}) -> {C2}',
        f'%w = "lwe.radd_plain"(%u, %a) : ({C2}, {plaintext()}) -> {C2}',
        f'%r = "lwe.radd_plain"(%w, %b) : ({C2}, {plaintext()}) -> {C2}',
    )
    assert np.abs(compute(text)[0] - (X + 0.25 + 0.25 + 0.5)).max() < 1e-12


def test_a_product_with_zeros() -> None:
    text = body(
        f'%v = "arith.constant"() <{{value = dense<0.0> : {T8}}}> : () -> {T8}',
        encode("%p", "%v", T8),
        f'%r = "ckks.mul_plain"(%x, %p) : ({C2}, {plaintext()}) -> {ciphertext(2, 80)}',
        type_=ciphertext(2, 80),
    )
    assert not compute(text)[0].any()


def test_a_series_on_another_interval() -> None:
    """T0 + 2 T2 with T2(t) = 2 t^2 - 1 for t = x / 2."""
    text = body(
        '%r = "kernel.eval_chebyshev"(%x) <{coefficients = [1.0, 0.0, 2.0], domain_lower = -2.0 : f64, '
        f"domain_upper = 2.0 : f64}}> : ({C2}) -> {C1}",
        type_=C1,
    )
    made = read(text)
    (op,) = [op for op in made.walk() if op.name == "ckks.polynomial"]
    assert isinstance(op, ckks.PolynomialOp) and op.domain is not None
    assert tuple(op.domain.get_values()) == (-2.0, 2.0)
    Pipeline("expansion", ("ckks-expand",)).run(make_context(), made)
    (result,) = run_cleartext(made, "f", {"arg0": X + 0j, "arg1": Y + 0j})
    assert np.abs(result.real[:8] - (1 + 2 * (2 * (X / 2) ** 2 - 1))).max() < 1e-9


def test_the_ring_degree_is_that_of_the_parameters() -> None:
    """Older releases put the number of slots into the types."""
    for degree in ("1024", "4096", "65536"):
        text = body(NEGATE).replace("x**8192", f"x**{degree}")
        assert ckks.parameters_of(read(text)).ring_degree == 8192


def client_functions(roles: dict[str, str], entry: str) -> ModuleOp:
    """An entry @f on a ciphertext and an encryption of zero, with helpers whose names say nothing."""
    encrypt = function(
        "a",
        [("%v", T8), ("%k", "!lwe.key")],
        [
            encode("%p", "%v", T8),
            f'%r = "lwe.rlwe_encrypt"(%p, %k) : ({plaintext()}, !lwe.key) -> {C2}',
        ],
        [("%r", C2)],
        roles["encrypt"],
    )
    zero = function("b", [("%v", C2)], [], [("%v", C2)], roles["zero"])
    decrypt = function(
        "c",
        [("%v", C2), ("%k", "!lwe.key")],
        [
            f'%p = "lwe.rlwe_decrypt"(%v, %k) : ({C2}, !lwe.key) -> {plaintext()}',
            f'%r = "lwe.rlwe_decode"(%p) : ({plaintext()}) -> tensor<4xf32>',
        ],
        [("%r", "tensor<4xf32>")],
        roles["decrypt"],
    )
    add = f'%r = "ckks.add"(%x, %z) : ({C2}, {C2}) -> {C2}'
    made = function("f", [("%x", C2), ("%z", C2)], [add], [("%r", C2)], entry)
    read_ = make_frontend("heir").read(module(encrypt, zero, made, decrypt), "heir.mlir")
    assert read_.client is not None
    packed = read_.client.pack("f", {"arg0": X})
    assert list(packed) == ["arg0", "zero1"]
    assert np.array_equal(packed["arg0"].real, X) and not packed["zero1"].any()
    (result,) = read_.client.unpack("f", [Y + 0j])
    assert np.array_equal(result, Y[:4])
    return read_.module


NEW = 'heir.interface = {{func_name = "f", index = {} : i64, roles = ["{}"]}}'
OLD = 'client.{} = {{func_name = "f", index = {} : i64}}'


def test_roles() -> None:
    roles = {
        "encrypt": NEW.format(0, "client.encrypt"),
        "zero": NEW.format(0, "client.encrypt_zero"),
        "decrypt": NEW.format(0, "client.decrypt"),
    }
    made = client_functions(roles, NEW.format(0, "entry"))
    assert names(made) == ["ckks.add"]


def test_attributes_of_older_releases() -> None:
    roles = {
        "encrypt": OLD.format("enc_func", 0),
        "zero": OLD.format("enc_zero_func", 0),
        "decrypt": OLD.format("dec_func", 0),
    }
    made = client_functions(roles, "")
    assert [str(op.properties["sym_name"]) for op in made.ops] == ['"f"']
