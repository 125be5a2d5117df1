import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func

from fhelium_ir.analysis.ranges import value_ranges
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.universe import make_context


def ranges_of(arguments: str, *lines: str) -> dict[str, float]:
    """Bounds by name in a function of the given body."""
    body = "\n".join(lines)
    text = f"func.func @f({arguments}) {{\n{body}\nreturn\n}}"
    (function,) = parse_module(make_context(), text).ops
    assert isinstance(function, func.FuncOp)
    return {value.name_hint or "": bound for value, bound in value_ranges(function).items()}


def test_arguments() -> None:
    ranges = ranges_of(
        "%x : !ckks.ciphertext, %y : !ckks.ciphertext {ckks.range = 0.25 : f64}, "
        "%p : !ckks.plaintext {ckks.range = 7.0 : f64}, %n : i32"
    )
    assert ranges == {"x": 1.0, "y": 0.25, "p": 7.0}


def test_every_op() -> None:
    ranges = ranges_of(
        "%x : !ckks.ciphertext {ckks.range = 3.0 : f64}, %y : !ckks.ciphertext",
        "%v = arith.constant dense<[1.0, -4.0, 2.0, 0.0]> : tensor<4xf64>",
        "%p = ckks.encode %v : tensor<4xf64> -> !ckks.plaintext",
        "%add = ckks.add %x, %y : !ckks.ciphertext",
        "%sub = ckks.sub %x, %x : !ckks.ciphertext",
        "%mul = ckks.mul %x, %add : !ckks.ciphertext",
        "%relin = ckks.relinearize %mul : !ckks.ciphertext",
        "%rescale = ckks.rescale %relin : !ckks.ciphertext",
        "%switch = ckks.mod_switch %rescale : !ckks.ciphertext",
        "%addp = ckks.add_plain %x, %p : !ckks.ciphertext, !ckks.plaintext",
        "%subp = ckks.sub_plain %x, %p : !ckks.ciphertext, !ckks.plaintext",
        "%mulp = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext",
        "%neg = ckks.negate %mulp : !ckks.ciphertext",
        "%rot = ckks.rotate %neg {steps = 1} : !ckks.ciphertext",
        "%conj = ckks.conjugate %rot : !ckks.ciphertext",
    )
    assert ranges == {
        "x": 3,
        "y": 1,
        "p": 4,
        "add": 4,
        "sub": 6,
        "mul": 12,
        "relin": 12,
        "rescale": 12,
        "switch": 12,
        "addp": 7,
        "subp": 7,
        "mulp": 12,
        "neg": 12,
        "rot": 12,
        "conj": 12,
    }


def test_structured_ops() -> None:
    """The largest row sum, sum |c_k| bound^k, sum |c_k|, and the number of summands."""
    ranges = ranges_of(
        "%x : !ckks.ciphertext {ckks.range = 2.0 : f64}",
        "%v = arith.constant dense<[[1.0, -3.0], [0.5, 0.0]]> : tensor<2x2xf64>",
        "%linear = ckks.linear_transform %x, %v : !ckks.ciphertext, tensor<2x2xf64>",
        "%monomial = ckks.polynomial %x {coefficients = dense<[1.0, 0.0, -3.0]> : tensor<3xf64>} : "
        "!ckks.ciphertext",
        "%chebyshev = ckks.polynomial %x {coefficients = dense<[1.0, 0.0, -3.0]> : tensor<3xf64>, "
        'basis = "chebyshev", domain = array<f64: -2.0, 2.0>} : !ckks.ciphertext',
        "%sum = ckks.sum_slots %x {count = 5} : !ckks.ciphertext",
    )
    assert 8 <= ranges.pop("linear") <= 8.000001
    assert ranges == {"x": 2, "monomial": 13, "chebyshev": 4, "sum": 10}


positive = st.floats(min_value=1e-150, max_value=1e150)


@given(positive, positive)
def test_bounds_are_rounded_up_to_the_next_float(x: float, y: float) -> None:
    ranges = ranges_of(
        f"%x : !ckks.ciphertext {{ckks.range = {x:.17e} : f64}}, "
        f"%y : !ckks.ciphertext {{ckks.range = {y:.17e} : f64}}",
        "%add = ckks.add %x, %y : !ckks.ciphertext",
        "%mul = ckks.mul %x, %y : !ckks.ciphertext",
    )
    assert (ranges["x"], ranges["y"]) == (x, y)
    for name, exact in (("add", Fraction(x) + Fraction(y)), ("mul", Fraction(x) * Fraction(y))):
        assert Fraction(ranges[name]) >= exact
        assert Fraction(math.nextafter(ranges[name], 0)) < exact


def squarings(count: int) -> list[str]:
    """%r0 is %x, and %r(i+1) the square of %ri."""
    lines: list[str] = []
    for i in range(count):
        source = "%x" if i == 0 else f"%r{i - 1}"
        lines += [
            f"%s{i} = ckks.mul {source}, {source} : !ckks.ciphertext",
            f"%r{i} = ckks.relinearize %s{i} : !ckks.ciphertext",
        ]
    return lines


def test_a_bound_beyond_every_float_is_infinite() -> None:
    ranges = ranges_of(
        "%x : !ckks.ciphertext {ckks.range = 2.0 : f64}",
        *squarings(100),
        "%more = ckks.add %r99, %x : !ckks.ciphertext",
    )
    assert ranges["r8"] == 2.0**512
    assert ranges["r9"] == math.inf
    assert ranges["more"] == math.inf


def test_zero_stays_zero() -> None:
    ranges = ranges_of(
        "%x : !ckks.ciphertext {ckks.range = 2.0 : f64}",
        *squarings(20),
        "%v = arith.constant dense<0.0> : tensor<2xf64>",
        "%p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext",
        "%zero = ckks.mul_plain %r19, %p : !ckks.ciphertext, !ckks.plaintext",
    )
    assert ranges["r19"] == math.inf
    assert ranges["zero"] == 0


def test_a_tiny_product_is_not_rounded_to_zero() -> None:
    ranges = ranges_of("%x : !ckks.ciphertext {ckks.range = 1.0e-10 : f64}", *squarings(30))
    assert ranges["r29"] == math.nextafter(0, 1)


def test_what_an_unknown_op_makes_has_no_bound() -> None:
    ranges = ranges_of(
        "%x : !ckks.ciphertext",
        '%u = "test.op"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext',
        "%v = ckks.add %x, %u : !ckks.ciphertext",
    )
    assert ranges == {"x": 1.0}


@pytest.mark.parametrize("text", ["0.0 : f64", "-1.0 : f64", "2 : i64", "unit", '"wide"'])
def test_bad_range_attributes(text: str) -> None:
    with pytest.raises(FheliumError, match=r"argument 0 of @f: ckks\.range must be a positive"):
        ranges_of(f"%x : !ckks.ciphertext {{ckks.range = {text}}}")


def test_a_constant_must_be_finite() -> None:
    with pytest.raises(FheliumError, match="value 1 is inf"):
        ranges_of(
            "",
            '%v = arith.constant dense<"0x000000000000E03F000000000000F07F"> : tensor<2xf64>',
            "%p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext",
        )


def test_what_is_encoded_must_be_a_constant() -> None:
    with pytest.raises(FheliumError, match=r"must be an `arith\.constant"):
        ranges_of("%v : tensor<2xf64>", "%p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext")


def test_a_promise_on_an_op_is_believed_where_it_is_smaller() -> None:
    text = """module {
      func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
        %a = ckks.add %x, %x {ckks.range = 1.25 : f64} : !ckks.ciphertext
        %b = ckks.add %a, %x {ckks.range = 9.0 : f64} : !ckks.ciphertext
        return %b : !ckks.ciphertext
      }
    }"""
    module = parse_module(make_context(), text)
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    bounds = {value.name_hint: bound for value, bound in value_ranges(function).items()}
    assert bounds == {"x": 1.0, "a": 1.25, "b": 2.25}
