"""What the frontend refuses, each with the line that it is about."""

from __future__ import annotations

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.frontend import make_frontend
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
ADD = f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}'
ZERO = '%zero = "arith.constant"() <{value = 0 : index}> : () -> index'
ONE = '%one = "arith.constant"() <{value = 1 : index}> : () -> index'
TEN = '%ten = "arith.constant"() <{value = 10 : index}> : () -> index'
VECTOR = '%v = "arith.constant"() <{value = dense<0.5> : tensor<8xf32>}> : () -> tensor<8xf32>'
OTHER = ciphertext(2, encoding="#lwe.full_crt_packing_encoding")


def loop(low: str, high: str, step: str) -> tuple[str, ...]:
    return (
        f'"scf.for"({low}, {high}, {step}) ({{',
        "^bb0(%i: index):",
        '"scf.yield"() : () -> ()',
        "}) : (index, index, index) -> ()",
    )


CASES: dict[str, tuple[str, int, str]] = {
    "an unknown op": (
        body(f'%r = "ckks.frobnicate"(%x) : ({C2}) -> {C2}'),
        4,
        "'ckks.frobnicate' is not supported by the frontend heir",
    ),
    "bootstrapping": (
        body(f'%r = "ckks.bootstrap"(%x) : ({C2}) -> {C2}'),
        4,
        "'ckks.bootstrap' is not supported: this project has no bootstrapping yet",
    ),
    "an op outside of functions": (
        module('"memref.global"() : () -> ()\n', function("f", [("%x", C2)], [], [("%x", C2)])),
        2,
        "'memref.global' is not supported",
    ),
    "branches between blocks": (
        body('"cf.br"()[^end] : () -> ()', "^end:", ADD),
        6,
        "branches between blocks are not supported",
    ),
    "a condition that depends on a public argument": (
        body(
            ADD,
            '"scf.if"(%p0) ({',
            '"scf.yield"() : () -> ()',
            "}, {",
            "}) : (i1) -> ()",
            inputs=["i1"],
        ),
        5,
        "scf.if: the condition depends on an argument",
    ),
    "a bound that depends on a public argument": (
        body(ADD, ZERO, ONE, *loop("%zero", "%p0", "%one"), inputs=["index"]),
        7,
        "scf.for: the upper bound depends on an argument",
    ),
    "a step that is not positive": (
        body(ADD, ZERO, ONE, *loop("%zero", "%one", "%zero")),
        7,
        "scf.for: the step is 0, it must be positive",
    ),
    "a recursion": (
        body(f'%r = "func.call"(%x, %y) <{{callee = @f}}> : ({C2}, {C2}) -> {C2}'),
        4,
        "@f calls itself",
    ),
    "a call of nothing": (
        body(f'%r = "func.call"(%x) <{{callee = @g}}> : ({C2}) -> {C2}'),
        4,
        "there is no function @g",
    ),
    "a sum at two scales": (
        body(
            f'%m = "ckks.mul"(%x, %y) : ({C2}, {C2}) -> {ciphertext(2, 80, 3)}',
            f'%s = "ckks.relinearize"(%m) : ({ciphertext(2, 80, 3)}) -> {ciphertext(2, 80)}',
            f'%r = "ckks.add"(%s, %x) : ({ciphertext(2, 80)}, {C2}) -> {ciphertext(2, 80)}',
            type_=ciphertext(2, 80),
        ),
        6,
        "about 2^80.00 and 2^40.00: the program adds values that were not brought to the same",
    ),
    "a plaintext at another scale": (
        body(
            VECTOR,
            encode("%p", "%v", "tensor<8xf32>", 80),
            f'%r = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext(80)}) -> {C2}',
        ),
        6,
        "about 2^40.00 and 2^80.00: the program adds values",
    ),
    "a sum at two levels": (
        body(
            f'%l = "ckks.level_reduce"(%x) : ({C2}) -> {C1}',
            f'%r = "ckks.add"(%l, %y) : ({C1}, {C2}) -> {C1}',
            type_=C1,
        ),
        5,
        "ckks.add: the operands must have equal levels",
    ),
    "a level that does not follow": (
        body(f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C1}', type_=C1),
        4,
        "HEIR states level 1 and 2 polynomials, the operands give level 2 and 2",
    ),
    "a rescale that drops nothing": (
        body(f'%r = "ckks.rescale"(%x) : ({C2}) -> {C2}'),
        4,
        "ckks.rescale: the result is at the level of the operand",
    ),
    "a rescale upwards": (
        body(
            f'%l = "ckks.level_reduce"(%x) : ({C2}) -> {C1}',
            f'%r = "ckks.rescale"(%l) : ({C1}) -> {C2}',
        ),
        5,
        "ckks.rescale: the result is at level 2, the operand at 1",
    ),
    "relinearization to another basis": (
        body(
            f'%r = "ckks.relinearize"(%x) <{{to_basis = array<i32: 0, 2>}}> : ({C2}) -> {C2}',
        ),
        4,
        "ckks.relinearize: the result must have the basis (1, s)",
    ),
    "a product of three polynomials": (
        body(
            f'%m = "ckks.mul"(%x, %y) : ({C2}, {C2}) -> {ciphertext(2, 80, 3)}',
            f'%r = "ckks.mul"(%m, %x) : ({ciphertext(2, 80, 3)}, {C2}) -> {ciphertext(2, 120, 3)}',
            type_=ciphertext(2, 120, 3),
        ),
        5,
        "ckks.mul: the operand must have size 2, found size 3; relinearize it first",
    ),
    "a plaintext that was never stored": (
        body(
            f'%s = "preprocessing.empty"() : () -> {STORAGE}',
            f'%p = "preprocessing.load"(%s) <{{site_id = 3 : i32}}> : ({STORAGE}) -> {plaintext()}',
            f'%r = "ckks.add_plain"(%x, %p) : ({C2}, {plaintext()}) -> {C2}',
        ),
        5,
        "preprocessing.load: nothing was stored at site 3",
    ),
    "an index outside of its tensor": (
        body(VECTOR, TEN, '%e = "tensor.extract"(%v, %ten) : (tensor<8xf32>, index) -> f32', ADD),
        6,
        "tensor.extract: index [10] is outside of the tensor of 8",
    ),
    "a slice outside of its tensor": (
        body(
            VECTOR,
            '%e = "tensor.extract_slice"(%v) <{static_offsets = array<i64: 6>, static_sizes = array<i64: 4>, '
            "static_strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4xf32>",
            ADD,
        ),
        5,
        "tensor.extract_slice: offset 6, size 4, stride 1 leave the tensor",
    ),
    "an element that was never written": (
        body(
            ZERO,
            f'%t = "tensor.empty"() : () -> tensor<1x{C2}>',
            f'%r = "tensor.extract"(%t, %zero) : (tensor<1x{C2}>, index) -> {C2}',
        ),
        6,
        "tensor.extract: the element [0] was never written",
    ),
    "a result that was never written": (
        body(
            f'%r = "tensor.empty"() : () -> tensor<1x{C2}>',
            type_=f"tensor<1x{C2}>",
        ),
        2,
        "@f returns an element that was never written",
    ),
    "a vector of another length": (
        body(
            '%v = "arith.constant"() <{value = dense<0.5> : tensor<3xf32>}> : () -> tensor<3xf32>',
            encode("%p", "%v", "tensor<3xf32>"),
            ADD,
        ),
        5,
        "a vector of 3 numbers is encoded, which does not divide the 8 slots",
    ),
    "a rotation by a fraction": (
        body(
            '%k = "arith.constant"() <{value = 0.5 : f32}> : () -> f32',
            f'%r = "ckks.rotate"(%x, %k) : ({C2}, f32) -> {C2}',
        ),
        5,
        "ckks.rotate: the number of steps must be an integer",
    ),
    "a matrix that is known only at run time": (
        body(
            f'%r = "kernel.linear_transform"(%x, %p0) <{{diagonal_indices = array<i64: 0>}}> : '
            f"({C2}, tensor<1x8xf32>) -> {C1}",
            type_=C1,
            inputs=["tensor<1x8xf32>"],
        ),
        4,
        "kernel.linear_transform: needs a constant matrix",
    ),
    "a division by zero": (
        body(ZERO, '%d = "arith.divsi"(%zero, %zero) : (index, index) -> index', ADD),
        5,
        "arith.divsi: integer division or modulo by zero",
    ),
    "a plaintext where a ciphertext belongs": (
        body(
            VECTOR,
            encode("%p", "%v", "tensor<8xf32>"),
            f'%r = "ckks.negate"(%p) : ({plaintext()}) -> {C2}',
        ),
        6,
        "ckks.negate: the operand must be a ciphertext",
    ),
    "another encoding": (
        module(function("f", [("%x", OTHER)], [], [("%x", OTHER)])),
        2,
        "expected a CKKS encoding (#lwe.inverse_canonical_encoding)",
    ),
    "a result in the clear": (
        module(function("f", [("%x", C2), ("%v", "f32")], [], [("%v", "f32")])),
        2,
        "result 0 of @f is no ciphertext: f32",
    ),
    "a module without parameters": (
        module(function("f", [("%x", C2)], [], [("%x", C2)]), scheme=""),
        1,
        "the module has no attribute `ckks.schemeParam`",
    ),
    "parameters that lack a part": (
        module(
            function("f", [("%x", C2)], [], [("%x", C2)]),
            scheme="ckks.schemeParam = #ckks.scheme_param<logN = 13>, ",
        ),
        1,
        "#ckks.scheme_param states no Q",
    ),
    "insecure parameters": (
        module(function("f", [("%x", C2)], [], [("%x", C2)]), log_degree=12),
        1,
        "parameters are insecure: log2(P*Q) =",
    ),
    "small special primes": (
        module(function("f", [("%x", C2)], [], [("%x", C2)]), p=[1099510054913]),
        1,
        "the special primes are smaller than a prime of the chain; the option special-primes=suit",
    ),
    "a number of slots that does not fit": (
        module(function("f", [("%x", C2)], [], [("%x", C2)]), slots=3),
        1,
        "`scheme.requested_slot_count` is 3, which does not divide the 4096 slots",
    ),
    "a level beyond the chain": (
        module(function("f", [("%x", ciphertext(5))], [], [("%x", ciphertext(5))])),
        2,
        "a ciphertext is at level 5, but the parameters have 3 primes",
    ),
    "no function": (
        module(function("f", [], [ZERO], [("%zero", "index")])),
        1,
        "the module has no function on CKKS ciphertexts",
    ),
    "attributes that name no function": (
        module(
            function(
                "f",
                [("%x", C2)],
                [],
                [("%x", C2)],
                'client.dec_func = {func_name = "g", index = 0 : i64}',
            )
        ),
        1,
        "attributes name an entry function @g, there is none",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    text, line, message = CASES[name]
    with pytest.raises(FheliumError) as caught:
        make_frontend("heir").read(text, "heir.mlir")
    assert message in caught.value.message
    assert (caught.value.location or "").startswith(f"heir.mlir:{line}:")


def test_scales_that_drift_too_far() -> None:
    text = drifting()
    make_frontend("heir").read(text, "heir.mlir")
    with pytest.raises(
        FheliumError, match=r"have drifted apart by a relative .*levels=managed"
    ) as caught:
        make_frontend("heir{drift-bits=40}").read(text, "heir.mlir")
    assert (caught.value.location or "").startswith("heir.mlir:8:")


def drifting() -> str:
    """x * y + x, where x has not been rescaled."""
    m, r = ciphertext(2, 80, 3), ciphertext(2, 80)
    return body(
        f'%m = "ckks.mul"(%x, %y) : ({C2}, {C2}) -> {m}',
        f'%l = "ckks.relinearize"(%m) : ({m}) -> {r}',
        f'%s = "ckks.rescale"(%l) : ({r}) -> {C1}',
        f'%d = "ckks.level_reduce"(%x) : ({C2}) -> {C1}',
        f'%r = "ckks.add"(%s, %d) : ({C1}, {C1}) -> {C1}',
        type_=C1,
    )


def test_drifting_scales_are_adopted_with_a_tolerance() -> None:
    module_ = make_frontend("heir").read(drifting(), "heir.mlir").module
    adoptions = [op for op in module_.walk() if op.name == "ckks.adopt_scale"]
    assert len(adoptions) == 1
    assert "tolerance = 3.0517578125e-05" in str(adoptions[0])


def test_text_in_pretty_form() -> None:
    with pytest.raises(FheliumError, match="reads what heir-opt --mlir-print-op-generic") as caught:
        make_frontend("heir").read("module { %0 = foo.bar }\n", "heir.mlir")
    assert (caught.value.location or "").startswith("heir.mlir:1:")


def test_a_type_that_does_not_end() -> None:
    text = body(ADD).replace("current = 2>>", "current = 2>", 1)
    with pytest.raises(FheliumError) as caught:
        make_frontend("heir").read(text, "heir.mlir")
    assert (caught.value.location or "").startswith("heir.mlir:")


def test_more_ops_than_the_limit() -> None:
    text = body(ADD, ZERO, ONE, TEN, *loop("%zero", "%ten", "%one"))
    make_frontend("heir{limit=30}").read(text, "heir.mlir")
    with pytest.raises(FheliumError, match="runs more than 14 ops") as caught:
        make_frontend("heir{limit=14}").read(text, "heir.mlir")
    assert (caught.value.location or "").startswith("heir.mlir:8:")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("heir{levels=mine}", "levels must be heir or managed"),
        ("heir{special-primes=none}", "special-primes must be keep or suit"),
        ("heir{drift-bits=1000}", "drift-bits must be from 0 to 999"),
        ("heir{range=0}", "a range must be positive"),
        ("heir{level=managed}", "unknown option 'level'; did you mean 'levels'"),
        ("heir{digits=x}", "frontend 'heir'"),
        ("hair", "unknown frontend 'hair'; did you mean 'heir'"),
        ("heir{", "cannot read the frontend"),
    ],
)
def test_options(spec: str, message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        make_frontend(spec)
    assert message in str(caught.value)


def test_ranges_of_another_number() -> None:
    with pytest.raises(FheliumError, match="3 ranges are given, @f has 2 arguments"):
        make_frontend("heir{range=1,2,3}").read(body(ADD), "heir.mlir")
