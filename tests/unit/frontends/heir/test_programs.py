"""What the frontend makes of small programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64, i64

from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.frontends.frontend import make_frontend
from fhelium_ir.frontends.heir.frontend import HeirFrontend
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.universe import make_context
from tests.unit.frontends.heir.texts import (
    STORAGE,
    Q,
    body,
    ciphertext,
    encode,
    function,
    module,
    plaintext,
)

C2, C1, C0 = ciphertext(2), ciphertext(1), ciphertext(0)
T3 = f"tensor<3x{C2}>"
X = np.arange(1.0, 9.0) / 10
Y = np.array([0.5, -0.5, 0.25, 0.0, -0.125, 0.75, -1.0, 0.625])


def index(name: str, value: int) -> str:
    return f'%{name} = "arith.constant"() <{{value = {value} : index}}> : () -> index'


def read(text: str, options: str = "") -> ModuleOp:
    frontend = make_frontend(f"heir{{{options}}}" if options else "heir")
    return frontend.read(text, "heir.mlir").module


def names(made: ModuleOp) -> list[str]:
    return [op.name for op in made.walk() if op.name.startswith("ckks.")]


def compute(text: str, options: str = "") -> list[NDArray[np.float64]]:
    """The first eight slots of the results for X and Y, after the checks of the program stage."""
    made = read(text, options)
    Pipeline("checks", ("ckks-manage", "ckks-check")).run(make_context(), made)
    inputs = {"arg0": X + 0j, "arg1": Y + 0j}
    return [np.asarray(result.real)[:8] for result in run_cleartext(made, "f", inputs)]


def test_every_op_of_ciphertexts() -> None:
    m, r = ciphertext(2, 80, 3), ciphertext(2, 80)
    text = body(
        '%v = "arith.constant"() <{value = dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>',
        encode("%p", "%v", "tensor<4xf32>"),
        index("k", 3),
        f'%a = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}',
        f'%s = "ckks.sub"(%a, %y) : ({C2}, {C2}) -> {C2}',
        f'%n = "ckks.negate"(%s) : ({C2}) -> {C2}',
        f'%ap = "ckks.add_plain"(%n, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%sp = "ckks.sub_plain"(%ap, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%rp = "lwe.radd_plain"(%sp, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%t = "ckks.rotate"(%rp, %k) : ({C2}, index) -> {C2}',
        f'%m = "ckks.mul"(%t, %y) : ({C2}, {C2}) -> {m}',
        f'%l = "ckks.relinearize"(%m) <{{to_basis = array<i32: 0, 1>}}> : ({m}) -> {r}',
        f'%c = "ckks.rescale"(%l) : ({r}) -> {C1}',
        f'%q = "ckks.mul_plain"(%c, %p) : ({C1}, {plaintext()}) -> {ciphertext(1, 80)}',
        f'%d = "ckks.rescale"(%q) : ({ciphertext(1, 80)}) -> {C0}',
        f'%e = "ckks.level_reduce"(%x) : ({C2}) -> {C0}',
        f'%r = "ckks.add"(%d, %e) : ({C0}, {C0}) -> {C0}',
        type_=C0,
    )
    p = np.tile([0.5, 1.0, 2.0, 4.0], 2)
    want = np.roll(p - X, -3) * Y * p + X
    (result,) = compute(text)
    assert np.abs(result - want).max() < 1e-4
    (managed,) = compute(text, "levels=managed")
    assert np.abs(managed - want).max() < 1e-9
    assert "ckks.rescale" not in names(read(text, "levels=managed"))
    assert names(read(text)).count("ckks.rescale") == 2
    assert "ckks.mod_switch" in names(read(text))


def test_a_plaintext_minus_a_ciphertext() -> None:
    text = body(
        '%v = "arith.constant"() <{value = dense<0.5> : tensor<8xf32>}> : () -> tensor<8xf32>',
        encode("%p", "%v", "tensor<8xf32>"),
        f'%r = "ckks.sub_plain"(%p, %x) : ({plaintext()}, {C2}) -> {C2}',
    )
    assert np.abs(compute(text)[0] - (0.5 - X)).max() < 1e-12


def test_zero_plaintexts_and_rotations_by_nothing_cost_nothing() -> None:
    text = body(
        '%v = "arith.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>',
        encode("%p", "%v", "tensor<8xf32>"),
        index("k", -16),
        f'%a = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%r = "ckks.rotate"(%a, %k) : ({C2}, index) -> {C2}',
    )
    assert names(read(text)) == []


def test_equal_constants_are_encoded_once() -> None:
    text = body(
        '%v = "arith.constant"() <{value = dense<0.25> : tensor<8xf32>}> : () -> tensor<8xf32>',
        encode("%p", "%v", "tensor<8xf32>"),
        encode("%q", "%v", "tensor<8xf32>"),
        f'%a = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext()}) -> {C2}',
        f'%r = "ckks.sub_plain"(%a, %q) : ({C2}, {plaintext()}) -> {C2}',
    )
    assert names(read(text)).count("ckks.encode") == 1


def test_a_rescale_by_two_primes() -> None:
    m, r = ciphertext(2, 80, 3), ciphertext(2, 80)
    text = body(
        f'%m = "ckks.mul"(%x, %y) : ({C2}, {C2}) -> {m}',
        f'%l = "ckks.relinearize"(%m) : ({m}) -> {r}',
        f'%r = "ckks.rescale"(%l) : ({r}) -> {ciphertext(0, 0)}',
        type_=ciphertext(0, 0),
    )
    made = read(text)
    assert names(made).count("ckks.rescale") == 2
    (result,) = [op for op in made.walk() if op.name == "func.return"]
    type_ = result.operands[0].type
    assert isinstance(type_, ckks.CiphertextType)
    assert str(type_.data.scale) == "2**80 / q1 / q2"


def test_loops_branches_and_tensors_of_ciphertexts() -> None:
    """Sums x rotated by 1, 2, ... where the sum of two indices is even; slices write and read the tensor."""
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1), ("c2", 2), ("c3", 3))),
        f'%e = "tensor.splat"(%x) : ({C2}) -> {T3}',
        '%t = "scf.for"(%c0, %c3, %c1, %e) ({',
        f"^bb0(%i: index, %acc: {T3}):",
        '%u = "scf.for"(%c0, %c2, %c1, %acc) ({',
        f"^bb0(%j: index, %in: {T3}):",
        '%s = "arith.addi"(%i, %j) : (index, index) -> index',
        '%m = "arith.remsi"(%s, %c2) : (index, index) -> index',
        '%q = "arith.cmpi"(%m, %c0) <{predicate = 0 : i64}> : (index, index) -> i1',
        '%o = "scf.if"(%q) ({',
        f'%old = "tensor.extract"(%in, %i) : ({T3}, index) -> {C2}',
        f'%rot = "ckks.rotate"(%x, %s) : ({C2}, index) -> {C2}',
        f'%new = "ckks.add"(%old, %rot) : ({C2}, {C2}) -> {C2}',
        f'%set = "tensor.insert"(%new, %in, %i) : ({C2}, {T3}, index) -> {T3}',
        f'"scf.yield"(%set) : ({T3}) -> ()',
        "}, {",
        f'"scf.yield"(%in) : ({T3}) -> ()',
        f"}}) : (i1) -> {T3}",
        f'"scf.yield"(%o) : ({T3}) -> ()',
        f"}}) : (index, index, index, {T3}) -> {T3}",
        f'"scf.yield"(%u) : ({T3}) -> ()',
        f"}}) : (index, index, index, {T3}) -> {T3}",
        f'%h = "tensor.extract_slice"(%t, %c1) <{{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = '
        f"array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}}> : "
        f"({T3}, index) -> tensor<2x{C2}>",
        f'%r = "tensor.insert_slice"(%h, %t) <{{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = '
        f"array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}}> : "
        f"(tensor<2x{C2}>, {T3}) -> {T3}",
        type_=T3,
    )
    rows = [X.copy() for _ in range(3)]
    for i in range(3):
        for j in range(2):
            if (i + j) % 2 == 0:
                rows[i] = rows[i] + np.roll(X, -(i + j))
    want = [rows[1], rows[2], rows[2]]
    assert np.abs(np.array(compute(text)) - np.array(want)).max() < 1e-12


def test_a_tensor_that_is_used_twice_is_not_changed() -> None:
    """The empty tensor outside of the loop is written in each iteration: the copies must not see each other."""
    t1 = f"tensor<1x{C2}>"
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1), ("c3", 3))),
        f'%one = "tensor.splat"(%x) : ({C2}) -> {t1}',
        '%last = "scf.for"(%c0, %c3, %c1, %one) ({',
        f"^bb0(%i: index, %in: {t1}):",
        f'%old = "tensor.extract"(%in, %c0) : ({t1}, index) -> {C2}',
        f'%new = "ckks.add"(%old, %y) : ({C2}, {C2}) -> {C2}',
        f'%set = "tensor.insert"(%new, %one, %c0) : ({C2}, {t1}, index) -> {t1}',
        f'"scf.yield"(%set) : ({t1}) -> ()',
        f"}}) : (index, index, index, {t1}) -> {t1}",
        f'%a = "tensor.extract"(%last, %c0) : ({t1}, index) -> {C2}',
        f'%b = "tensor.extract"(%one, %c0) : ({t1}, index) -> {C2}',
        f'%r = "ckks.sub"(%a, %b) : ({C2}, {C2}) -> {C2}',
    )
    assert np.abs(compute(text)[0] - 3 * Y).max() < 1e-12


def test_affine_loops_and_branches() -> None:
    text = body(
        index("n", 3),
        '%r = "affine.for"(%n, %x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = '
        "array<i32: 0, 1, 1>, step = 1 : index, upperBoundMap = affine_map<()[s0] -> (s0 + 1)>}> ({",
        f"^bb0(%i: index, %in: {C2}):",
        '%k = "affine.apply"(%i) <{map = affine_map<(d0) -> (d0 * 2)>}> : (index) -> index',
        '%o = "affine.if"(%i) <{condition = affine_set<(d0) : (d0 - 1 >= 0)>}> ({',
        f'%rot = "ckks.rotate"(%x, %k) : ({C2}, index) -> {C2}',
        f'%s = "ckks.add"(%in, %rot) : ({C2}, {C2}) -> {C2}',
        f'"affine.yield"(%s) : ({C2}) -> ()',
        "}, {",
        f'"affine.yield"(%in) : ({C2}) -> ()',
        f"}}) : (index) -> {C2}",
        f'"affine.yield"(%o) : ({C2}) -> ()',
        f"}}) : (index, {C2}) -> {C2}",
    )
    want = X + np.roll(X, -2) + np.roll(X, -4) + np.roll(X, -6)
    assert np.abs(compute(text)[0] - want).max() < 1e-12


def test_integers_wrap_and_divide_as_in_mlir() -> None:
    """Rotates by a number that is 5 only if all of these hold."""
    i8 = "(i8, i8) -> i8"
    text = body(
        '%a = "arith.constant"() <{value = 100 : i8}> : () -> i8',
        '%b = "arith.constant"() <{value = -7 : i8}> : () -> i8',
        '%two = "arith.constant"() <{value = 2 : i8}> : () -> i8',
        f'%w = "arith.addi"(%a, %a) : {i8}',  # -56
        f'%d = "arith.divsi"(%b, %two) : {i8}',  # -3
        f'%f = "arith.floordivsi"(%b, %two) : {i8}',  # -4
        f'%m = "arith.remsi"(%b, %two) : {i8}',  # -1
        f'%u = "arith.divui"(%w, %two) : {i8}',  # 100
        f'%s = "arith.shrsi"(%w, %two) : {i8}',  # -14
        f'%x1 = "arith.subi"(%u, %a) : {i8}',  # 0
        f'%x2 = "arith.subi"(%x1, %s) : {i8}',  # 14
        f'%x3 = "arith.addi"(%x2, %w) : {i8}',  # -42
        f'%x4 = "arith.muli"(%d, %f) : {i8}',  # 12
        f'%x5 = "arith.addi"(%x3, %x4) : {i8}',  # -30
        f'%x6 = "arith.muli"(%x5, %m) : {i8}',  # 30
        '%x7 = "arith.index_cast"(%x6) : (i8) -> index',
        f'%r = "ckks.rotate"(%x, %x7) : ({C2}, index) -> {C2}',
    )
    assert np.abs(compute(text)[0] - np.roll(X, -30)).max() < 1e-12


def test_stored_plaintexts_are_loaded_by_site_and_index() -> None:
    text = body(
        *(index(name, value) for name, value in (("c0", 0), ("c1", 1))),
        '%v = "arith.constant"() <{value = dense<0.25> : tensor<8xf32>}> : () -> tensor<8xf32>',
        '%w = "arith.constant"() <{value = dense<0.5> : tensor<8xf32>}> : () -> tensor<8xf32>',
        f'%s = "preprocessing.empty"() : () -> {STORAGE}',
        encode("%p", "%v", "tensor<8xf32>"),
        encode("%q", "%w", "tensor<8xf32>"),
        f'"preprocessing.store"(%p, %s, %c0) <{{site_id = 1 : i32}}> : ({plaintext()}, {STORAGE}, index) -> ()',
        f'"preprocessing.store"(%q, %s, %c1) <{{site_id = 1 : i32}}> : ({plaintext()}, {STORAGE}, index) -> ()',
        f'%l = "preprocessing.load"(%s, %c1) <{{site_id = 1 : i32}}> : ({STORAGE}, index) -> {plaintext()}',
        f'%r = "ckks.add_plain"(%x, %l) : ({C2}, {plaintext()}) -> {C2}',
    )
    assert np.abs(compute(text)[0] - (X + 0.5)).max() < 1e-12


def test_polynomials_and_matrices_that_heir_leaves_whole() -> None:
    matrix = np.arange(8.0) / 8
    dense = f"dense<{list(matrix.tolist())}> : tensor<8xf32>"
    text = body(
        f'%m = "arith.constant"() <{{value = {dense}}}> : () -> tensor<8xf32>',
        '%d = "tensor.expand_shape"(%m) <{reassociation = [[0, 1]], static_output_shape = array<i64: 1, 8>}> : '
        "(tensor<8xf32>) -> tensor<1x8xf32>",
        '%a = "kernel.linear_transform"(%x, %d) <{diagonal_indices = array<i64: 3>}> : '
        f"({C2}, tensor<1x8xf32>) -> {C1}",
        f'%r = "kernel.eval_chebyshev"(%a) <{{coefficients = [0.5, 0.25]}}> : ({C1}) -> {C0}',
        type_=C0,
    )
    t = matrix * np.roll(X, -3)
    made = read(text)
    assert names(made) == ["ckks.linear_transform", "ckks.polynomial"]
    Pipeline("checks", ("ckks-expand", "ckks-manage", "ckks-check")).run(make_context(), made)
    (result,) = run_cleartext(made, "f", {"arg0": X + 0j, "arg1": Y + 0j})
    want = 0.5 + 0.25 * t
    assert np.abs(result.real[:8] - want).max() < 1e-9


def test_roles_decide_and_names_do_not() -> None:
    """The entry function is called as a helper might be, and the other way round."""
    entry = function(
        "g__encrypt__arg0",
        [("%x", C2)],
        [],
        [("%x", C2)],
        'heir.interface = {func_name = "a", roles = ["entry"]}',
    )
    other = function(
        "a",
        [("%x", C2)],
        [],
        [("%x", C2)],
        'heir.interface = {func_name = "a", roles = ["client.pack"]}',
    )
    made = read(module(other, entry))
    assert [str(op.properties["sym_name"]) for op in made.ops] == ['"g__encrypt__arg0"']


def test_several_entries() -> None:
    role = 'heir.interface = {func_name = "%s", roles = ["entry"]}'
    made = read(
        module(
            function("a", [("%x", C2)], [], [("%x", C2)], role % "a"),
            function(
                "b",
                [("%x", C2)],
                [f'%r = "func.call"(%x) <{{callee = @a}}> : ({C2}) -> {C2}'],
                [("%r", C2)],
                role % "b",
            ),
        )
    )
    assert [op.sym_name.data for op in made.ops if isinstance(op, func.FuncOp)] == ["a", "b"]


def test_special_primes_that_suit_the_chain() -> None:
    kept = ckks.parameters_of(read(body(f'%r = "ckks.negate"(%x) : ({C2}) -> {C2}')))
    suited = ckks.parameters_of(
        read(body(f'%r = "ckks.negate"(%x) : ({C2}) -> {C2}'), "special-primes=suit")
    )
    assert kept.q == suited.q == Q
    assert kept.p == (1152921504606994433,) and kept.digits == 3
    assert suited.digits == 3
    assert [prime.bit_length() for prime in suited.p] == [51]
    two = read(
        body(f'%r = "ckks.negate"(%x) : ({C2}) -> {C2}'),
        "special-primes=suit digits=2 insecure=true",
    )
    assert len(ckks.parameters_of(two).p) == 2
    two.verify()


def test_ranges_and_names_of_arguments() -> None:
    made = read(body(f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}'), "range=1,4.5")
    (made_function,) = made.ops
    assert isinstance(made_function, func.FuncOp) and made_function.arg_attrs is not None
    first, second = made_function.arg_attrs.data
    assert dict(first.data) == {"ckks.name": StringAttr("arg0"), "ckks.slots": IntegerAttr(8, i64)}
    assert second.data["ckks.range"] == FloatAttr(4.5, f64)


def test_ops_keep_the_lines_of_the_source() -> None:
    made = read(body(f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}'))
    (op,) = [op for op in made.walk() if op.name == "ckks.add"]
    assert location_of(op) == "heir.mlir:4:6"


def test_the_frontend_is_registered() -> None:
    assert isinstance(make_frontend("heir"), HeirFrontend)
