"""Text that HEIR would not print: one error with the line that it is about, whatever is wrong."""

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

C2 = ciphertext(2)
ADD = f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}'
T8 = "tensor<8xf32>"
VECTOR = f'%v = "arith.constant"() <{{value = dense<0.5> : {T8}}}> : () -> {T8}'
HALF = '%h = "arith.constant"() <{value = 0.5 : f32}> : () -> f32'
ZERO = '%zero = "arith.constant"() <{value = 0 : index}> : () -> index'
FLOATS = "(f32, f32) -> i1"
ROLE = 'heir.interface = {{func_name = "f", index = 0 : i64, roles = ["{}"]}}'

CASES: dict[str, tuple[str, int, str]] = {
    "a shift by too much": (
        body(
            '%k = "arith.constant"() <{value = 70 : index}> : () -> index',
            '%s = "arith.shli"(%k, %k) : (index, index) -> index',
            ADD,
        ),
        5,
        "a shift by 70 bits",
    ),
    "a comparison of another kind": (
        body(HALF, f'%c = "arith.cmpf"(%h, %h) <{{predicate = 7 : i64}}> : {FLOATS}', ADD),
        5,
        "arith.cmpf: predicate 7 is not supported",
    ),
    "a comparison without predicate": (
        body(HALF, f'%c = "arith.cmpf"(%h, %h) : {FLOATS}', ADD),
        5,
        "arith.cmpf: needs an integer attribute `predicate`",
    ),
    "a constant without value": (
        body('%k = "arith.constant"() : () -> index', ADD),
        4,
        "arith.constant: cannot read the value None",
    ),
    "a complex constant": (
        body(
            '%k = "arith.constant"() <{value = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>}> : () -> '
            "tensor<2xcomplex<f32>>",
            ADD,
        ),
        4,
        "arith.constant: an attribute cannot be read: ",
    ),
    "too few operands": (
        body(ZERO, '%k = "arith.addi"(%zero) : (index) -> index', ADD),
        5,
        "arith.addi: not enough values to unpack",
    ),
    "a loop whose bound is a fraction": (
        body(
            ZERO,
            HALF,
            '"scf.for"(%zero, %h, %zero) ({',
            "^bb0(%i: index):",
            '"scf.yield"() : () -> ()',
            "}) : (index, f32, index) -> ()",
            ADD,
        ),
        6,
        "scf.for: the upper bound must be an integer",
    ),
    "a loop without body": (
        body(ZERO, '"scf.for"(%zero, %zero, %zero) : (index, index, index) -> ()', ADD),
        5,
        "scf.for: the step is 0",
    ),
    "an affine op without map": (
        body(ZERO, '%k = "affine.apply"(%zero) : (index) -> index', ADD),
        5,
        "affine.apply: needs an affine map `map`",
    ),
    "an affine branch without condition": (
        body(
            ZERO, '"affine.if"(%zero) ({', '"affine.yield"() : () -> ()', "}) : (index) -> ()", ADD
        ),
        5,
        "affine.if: needs a `condition`",
    ),
    "a series without coefficients": (
        body(f'%r = "kernel.eval_chebyshev"(%x) : ({C2}) -> {ciphertext(1)}', type_=ciphertext(1)),
        4,
        "kernel.eval_chebyshev: needs an attribute `coefficients`",
    ),
    "diagonals that do not fit": (
        body(
            '%m = "arith.constant"() <{value = dense<0.5> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>',
            f'%r = "kernel.linear_transform"(%x, %m) <{{diagonal_indices = array<i64: 0>}}> : '
            f"({C2}, tensor<1x3xf32>) -> {ciphertext(1)}",
            type_=ciphertext(1),
        ),
        5,
        "diagonals of 3 numbers do not divide the 8 slots",
    ),
    "a ciphertext where a plaintext belongs": (
        body(f'%r = "ckks.add_plain"(%x, %y) : ({C2}, {C2}) -> {C2}'),
        4,
        "ckks.add_plain: the operand must be a plaintext",
    ),
    "a result that is no ciphertext": (
        body('%k = "ckks.negate"(%x) : ' + f"({C2}) -> f32", ADD),
        4,
        "ckks.negate: the result must be a ciphertext",
    ),
    "storage without site": (
        body(
            f'%s = "preprocessing.empty"() : () -> {STORAGE}',
            f'%p = "preprocessing.load"(%s) : ({STORAGE}) -> {plaintext()}',
            ADD,
        ),
        5,
        "preprocessing.load: needs an integer attribute `site_id`",
    ),
    "storage at a fraction": (
        body(
            HALF,
            f'%s = "preprocessing.empty"() : () -> {STORAGE}',
            f'%p = "preprocessing.load"(%s, %h) <{{site_id = 0 : i32}}> : ({STORAGE}, f32) -> {plaintext()}',
            ADD,
        ),
        6,
        "preprocessing.load: an index must be an integer",
    ),
    "an unranked tensor": (
        body('%t = "tensor.empty"() : () -> tensor<*xf32>', ADD),
        4,
        "tensor.empty: the result must be a ranked tensor",
    ),
    "a tensor that is too large": (
        body('%t = "tensor.empty"() : () -> tensor<100000x100000xf32>', ADD),
        4,
        "tensor.empty: a tensor has at most 67108864 elements",
    ),
    "a tensor whose size is missing": (
        body('%t = "tensor.empty"() : () -> tensor<?xf32>', ADD),
        4,
        "tensor.empty: ",
    ),
    "a slice without offsets": (
        body(VECTOR, f'%s = "tensor.extract_slice"(%v) : ({T8}) -> {T8}', ADD),
        5,
        "tensor.extract_slice: offsets, sizes and strides do not fit the tensor",
    ),
    "a slice whose offset is missing": (
        body(
            VECTOR,
            '%s = "tensor.extract_slice"(%v) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = '
            f"array<i64: 1>, static_strides = array<i64: 1>}}> : ({T8}) -> tensor<1xf32>",
            ADD,
        ),
        5,
        "tensor.extract_slice: ",
    ),
    "a call with another number of arguments": (
        module(
            function("g", [("%x", C2)], [], [("%x", C2)]),
            function(
                "f",
                [("%x", C2)],
                [f'%r = "func.call"(%x, %x) <{{callee = @g}}> : ({C2}, {C2}) -> {C2}'],
                [("%r", C2)],
                ROLE.format("entry"),
            ),
        ),
        8,
        "@g takes 1 arguments",
    ),
    "a function without body": (
        module(
            f'"func.func"() <{{function_type = ({C2}) -> ({C2}), sym_name = "f"}}> ({{}}) : () -> ()\n'
        ),
        2,
        "@f has no body",
    ),
    "a function that returns too little": (
        body(ADD).replace(f'"func.return"(%r) : ({C2}) -> ()', '"func.return"() : () -> ()'),
        2,
        "@f returns 0 values, its type says 1",
    ),
    "a function without type": (
        module('"func.func"() <{sym_name = "f"}> ({}) : () -> ()\n'),
        2,
        "a function lacks its name or type",
    ),
    "a module of two blocks": (
        body(ADD).replace("}) {ckks.schemeParam", "^next:\n}) {ckks.schemeParam"),
        1,
        "a module must have one block",
    ),
    "a ring degree that cannot be": (
        body(ADD).replace("logN = 13", "logN = -13"),
        1,
        "#ckks.scheme_param states logN = -13, not 3 to 17",
    ),
    "a helper without key": (
        module(
            function("e", [("%v", T8)], [], [("%v", T8)], ROLE.format("client.encrypt")),
            function("f", [("%x", C2)], [], [("%x", C2)], ROLE.format("entry")),
        ),
        2,
        "@e is for client.encrypt: it must take a value and a key, and have one result",
    ),
    "a name that is none": (body("^0:", ADD), 4, "Invalid Block name format `0`."),
    "a number that its type cannot hold": (
        body('%k = "arith.constant"() <{value = 300 : i8}> : () -> i8', ADD),
        4,
        "Integer value 300 is out of range for type i8",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    text, line, message = CASES[name]
    with pytest.raises(FheliumError) as caught:
        make_frontend("heir").read(text, "heir.mlir")
    assert message in caught.value.message
    assert (caught.value.location or "").startswith(f"heir.mlir:{line}:")


def with_helper(name: str, lines: list[str], argument: str, result: tuple[str, str]) -> str:
    """A module with one helper function, which begins in line 2."""
    helper = function(
        "h", [("%v", argument), ("%sk", "!lwe.key")], lines, [result], ROLE.format(name)
    )
    entry = function("f", [("%x", C2)], [], [("%x", C2)], ROLE.format("entry"))
    return module(helper, entry)


HELPERS: dict[str, tuple[str, int, str]] = {
    "encryption that gives no ciphertext": (
        with_helper("client.encrypt", [], T8, ("%v", T8)),
        2,
        "@h must give 1 ciphertexts for argument 0 of @f",
    ),
    "encryption with an op of another scheme": (
        with_helper("client.encrypt", [f'%r = "tfhe.what"(%v) : ({T8}) -> {C2}'], T8, ("%r", C2)),
        4,
        "'tfhe.what' is not supported by the frontend heir",
    ),
    "encryption of too much": (
        with_helper(
            "client.encrypt",
            [
                encode("%p", "%v", "tensor<16xf32>"),
                f'%r = "lwe.rlwe_encrypt"(%p, %sk) : ({plaintext()}, !lwe.key) -> {C2}',
            ],
            "tensor<16xf32>",
            ("%r", C2),
        ),
        4,
        "a vector of 16 numbers is encoded, which does not divide the 8 slots",
    ),
    "decryption that gives no numbers": (
        with_helper(
            "client.decrypt",
            [f'%p = "lwe.rlwe_decrypt"(%v, %sk) : ({C2}, !lwe.key) -> {plaintext()}'],
            C2,
            ("%p", plaintext()),
        ),
        2,
        "@h must give numbers for result 0 of @f",
    ),
}


@pytest.mark.parametrize("name", HELPERS)
def test_helpers_that_are_refused(name: str) -> None:
    text, line, message = HELPERS[name]
    client = make_frontend("heir").read(text, "heir.mlir").client
    assert client is not None
    for act in (
        lambda: client.layout("f"),
        lambda: client.unpack("f", list(client.pack("f", client.random_inputs("f", 1)).values())),
    ):
        with pytest.raises(FheliumError) as caught:
            act()
        assert message in caught.value.message
        assert (caught.value.location or "").startswith(f"heir.mlir:{line}:")
