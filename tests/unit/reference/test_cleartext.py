import numpy as np
import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.reference.cleartext import run_cleartext
from tests.unit.reference.textbook import parsed

PARAMS = (
    "ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257], digits = 2, "
    "scale = 2**5, secret = ternary, insecure>"
)
X = [1 + 1j, 2, 3j, -4]
Y = [0.5, -1j, 2, 1]


BOTH = "%x : !ckks.ciphertext, %y : !ckks.ciphertext"


def run(body: str, arguments: str = BOTH) -> list[complex]:
    text = (
        f"module attributes {{{PARAMS}}} {{ func.func @f({arguments}) -> !ckks.ciphertext {{\n"
        f"{body}\n return %r : !ckks.ciphertext }} }}"
    )
    (result,) = run_cleartext(parsed(text), "f", {"x": X, "y": Y})
    assert result.dtype == np.complex128
    return result.tolist()


def test_arithmetic() -> None:
    assert run("%r = ckks.add %x, %y : !ckks.ciphertext") == [1.5 + 1j, 2 - 1j, 2 + 3j, -3]
    assert run("%r = ckks.sub %x, %y : !ckks.ciphertext") == [0.5 + 1j, 2 + 1j, -2 + 3j, -5]
    assert run("%r = ckks.negate %x : !ckks.ciphertext") == [-1 - 1j, -2, -3j, 4]
    assert run("%r = ckks.conjugate %x : !ckks.ciphertext") == [1 - 1j, 2, -3j, -4]


def test_a_product_with_its_maintenance() -> None:
    body = """
      %0 = ckks.mul %x, %y : !ckks.ciphertext
      %1 = ckks.relinearize %0 : !ckks.ciphertext
      %2 = ckks.rescale %1 : !ckks.ciphertext
      %r = ckks.mod_switch %2 : !ckks.ciphertext"""
    assert run(body) == [0.5 + 0.5j, -2j, 6j, -4]


@pytest.mark.parametrize(
    "steps, expected",
    [(0, X), (1, [2, 3j, -4, 1 + 1j]), (-1, [-4, 1 + 1j, 2, 3j]), (6, [3j, -4, 1 + 1j, 2])],
)
def test_rotation_is_to_the_left_and_wraps(steps: int, expected: list[complex]) -> None:
    assert run(f"%r = ckks.rotate %x {{steps = {steps} : i64}} : !ckks.ciphertext") == expected


def test_a_matrix() -> None:
    body = """
      %m = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
      %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf64>"""
    # Row j mod 2 from column j on: x0 + 2 x1, 4 x1 + 3 x2, x2 + 2 x3, 4 x3 + 3 x0.
    assert run(body) == [5 + 1j, 8 + 9j, -8 + 3j, -13 + 3j]


def test_diagonals_of_a_matrix() -> None:
    body = """
      %m = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, 0.0, 0.0, 0.0]]> : tensor<2x4xf64>
      %r = ckks.linear_transform %x, %m {diagonals = array<i64: 1, 3>} :
        !ckks.ciphertext, tensor<2x4xf64>"""
    assert run(body) == [2 - 2, 6j, -12, 4 + 4j]


def test_polynomials() -> None:
    body = "%r = ckks.polynomial %x {coefficients = dense<[1.0, 0.0, 2.0]> : tensor<3xf64>} : "
    assert run(f"{body}!ckks.ciphertext") == [1 + 4j, 9, -17, 33]
    # T_2(t) = 2 t^2 - 1 at t = (x - 1) / 2, the middle and half the length of [-1, 3].
    body = (
        "%r = ckks.polynomial %x {coefficients = dense<[0.0, 0.0, 1.0]> : tensor<3xf64>, "
        'basis = "chebyshev", domain = array<f64: -1.0, 3.0>} : !ckks.ciphertext'
    )
    assert run(body) == [-1.5, -0.5, -5 - 3j, 11.5]


def test_sums_of_slots() -> None:
    assert run("%r = ckks.sum_slots %x {count = 3} : !ckks.ciphertext") == [
        3 + 4j,
        -2 + 3j,
        -3 + 4j,
        -1 + 1j,
    ]


@pytest.mark.parametrize(
    "op, expected",
    [
        ("add_plain", [2 + 1j, 0, 1 + 3j, -6]),
        ("sub_plain", [1j, 4, -1 + 3j, -2]),
        ("mul_plain", [1 + 1j, -4, 3j, 8]),
    ],
)
def test_constants_repeat(op: str, expected: list[complex]) -> None:
    body = f"""
      %c = arith.constant dense<[1.0, -2.0]> : tensor<2xf64>
      %e = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext
      %r = ckks.{op} %x, %e : !ckks.ciphertext, !ckks.plaintext"""
    assert run(body) == expected


def test_a_splat_constant_and_a_plain_argument() -> None:
    body = """
      %c = arith.constant dense<2.0> : tensor<4xf64>
      %e = ckks.encode %c : tensor<4xf64> -> !ckks.plaintext
      %0 = ckks.mul_plain %x, %e : !ckks.ciphertext, !ckks.plaintext
      %r = ckks.mul_plain %0, %y : !ckks.ciphertext, !ckks.plaintext"""
    result = run(body, "%x : !ckks.ciphertext, %y : !ckks.plaintext")
    assert result == [1 + 1j, -4j, 12j, -8]


def test_short_inputs_repeat_and_wrong_ones_are_refused() -> None:
    text = (
        f"module attributes {{{PARAMS}}} {{ func.func @f(%x : !ckks.ciphertext) -> "
        "!ckks.ciphertext { return %x : !ckks.ciphertext } }"
    )
    module = parsed(text)
    assert run_cleartext(module, "f", {"x": [1, 2]})[0].tolist() == [1, 2, 1, 2]
    with pytest.raises(FheliumError, match=r"input 'x' .* its length must divide the 4 slots"):
        run_cleartext(module, "f", {"x": [1, 2, 3]})
    with pytest.raises(FheliumError, match="input 'x' is missing"):
        run_cleartext(module, "f", {"y": [1]})
    with pytest.raises(FheliumError, match="unknown function 'g'"):
        run_cleartext(module, "g", {})


def test_an_unknown_op_is_named_with_its_place() -> None:
    text = (
        f"module attributes {{{PARAMS}}} {{ func.func @f(%x : !ckks.ciphertext) -> "
        '!ckks.ciphertext {\n  %0 = "test.op"() : () -> i64\n  return %x : !ckks.ciphertext } }'
    )
    with pytest.raises(FheliumError, match=r"cannot run 'test\.op'") as caught:
        run_cleartext(parsed(text), "f", {"x": [1]})
    assert caught.value.location == "test.mlir:2:8"


def test_a_module_without_parameters_is_refused() -> None:
    text = "func.func @f() { return }"
    with pytest.raises(FheliumError, match=r"no `ckks\.params`"):
        run_cleartext(parsed(text), "f", {"x": [1]})
