"""Writes the examples whose constants are computed: `python examples/generate.py [NAME ...]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.client.parameters import generate
from fhelium_ir.dialects.ckks import ParamsAttr

Array = NDArray[np.float64]

FOLDER = Path(__file__).parent
DIGITS = 4
"""Decimals of weights and coefficients."""


def parameters(
    ring_degree: int, levels: int, scale_bits: int = 40, first: int = 50, special: int = 50
) -> str:
    """The module attribute for a program of that many levels, wrapped."""
    q_bits = (first, *(scale_bits,) * levels)
    made = generate(ring_degree, q_bits, (special,), levels + 1, scale_bits)
    text = str(ParamsAttr(made)).removeprefix("#ckks.params<").removesuffix(">")
    degree, q, p, rest = (part.strip() for part in _parts(text))
    if len(q) > 90:
        head, _, tail = q.partition(", ")
        q = f"{head},\n    {tail}"
    return f"module attributes {{ckks.params = #ckks.params<\n  {degree}, {q},\n  {p}, {rest}>}} {{"


def _parts(text: str) -> tuple[str, str, str, str]:
    degree, _, text = text.partition(", q = ")
    q, _, text = text.partition(", p = ")
    p, _, rest = text.partition("], ")
    return degree, f"q = {q}", f"p = {p}]", rest


def numbers(values: Iterable[float]) -> str:
    """`[0.5, -0.25]`."""
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"


def vector(values: Array) -> str:
    return f"dense<{numbers(values)}> : tensor<{len(values)}xf64>"


def matrix(values: Array) -> str:
    """A square matrix, one line for each row."""
    rows = ",\n    ".join(numbers(row) for row in values)
    return f"dense<[\n    {rows}]> : tensor<{len(values)}x{len(values)}xf64>"


def rounded(values: Array) -> Array:
    # A zero without sign.
    return np.round(values, DIGITS) + 0.0


def sum_of_slots() -> str:
    return f"""\
// Sum of an encrypted vector of 4096 numbers: every slot of the result holds it. Twelve rotations, no level.
//
//   fhelium-run examples/sum.mlir

{parameters(8192, 0, first=60, special=60)}

func.func @sum(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
  %y = ckks.sum_slots %x {{count = 4096}} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}}

}}
"""


def exponential() -> str:
    coefficients = "1.0, 1.0, 0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333"
    return f"""\
// exp(x) of every slot of an encrypted vector, x in [-1, 1], by its Taylor polynomial of degree 5: three levels. The
// error is at most 0.0017.
//
//   fhelium-run examples/exponential.mlir

{parameters(8192, 3, scale_bits=38, first=48, special=48)}

func.func @exponential(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
  %y = ckks.polynomial %x {{coefficients = dense<[
    {coefficients}]> : tensor<6xf64>}} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}}

}}
"""


def interpolate(function: Callable[[Array], Array], degree: int) -> Array:
    """Chebyshev coefficients of the polynomial that equals the function at degree + 1 Chebyshev points."""
    angles = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
    values = function(np.cos(angles))
    return np.array(
        [(2 - (k == 0)) * np.mean(values * np.cos(k * angles)) for k in range(degree + 1)],
        dtype=np.float64,
    )


def reciprocal_coefficients() -> Array:
    """1 / (1.5 + x) on [-1, 1], interpolated at 16 Chebyshev points."""
    return interpolate(lambda x: 1 / (1.5 + x), 15)


def reciprocal() -> str:
    values = [f"{c:.12f}" for c in reciprocal_coefficients()]
    lines = ",\n    ".join(", ".join(values[i : i + 4]) for i in range(0, 16, 4))
    return f"""\
// 1 / (1.5 + x) of every slot of an encrypted vector, x in [-1, 1], by a polynomial of degree 15 in the Chebyshev
// basis: four levels. The polynomial differs from the function by less than 1e-6.
//
//   fhelium-run examples/chebyshev.mlir

{parameters(16384, 4)}

func.func @chebyshev(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
  %y = ckks.polynomial %x {{basis = "chebyshev", coefficients = dense<[
    {lines}]> : tensor<16xf64>}} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}}

}}
"""


def variance() -> str:
    return f"""\
// Variance of an encrypted vector of 4096 numbers, mean(x^2) - mean(x)^2, in two levels.
//
//   fhelium-run examples/variance.mlir

{parameters(8192, 2)}

func.func @variance(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
  %v = arith.constant dense<0.000244140625> : tensor<1xf64>  // 1 / 4096
  %factor = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %scaled = ckks.mul_plain %x, %factor : !ckks.ciphertext, !ckks.plaintext
  %mean = ckks.sum_slots %scaled {{count = 4096}} : !ckks.ciphertext
  %part = ckks.mul %scaled, %x : !ckks.ciphertext
  %mean_of_squares = ckks.sum_slots %part {{count = 4096}} : !ckks.ciphertext
  %square_of_mean = ckks.mul %mean, %mean : !ckks.ciphertext
  %variance = ckks.sub %mean_of_squares, %square_of_mean : !ckks.ciphertext
  return %variance : !ckks.ciphertext
}}

}}
"""


def cosine_transform(size: int = 64) -> Array:
    """The discrete cosine transform: entry i, j is cos(pi i (2 j + 1) / (2 size))."""
    i, j = np.mgrid[0:size, 0:size]
    return rounded(np.cos(np.pi * i * (2 * j + 1) / (2 * size)))


def matvec64() -> str:
    return f"""\
// 64x64 matrix times encrypted vector, in one level: the discrete cosine transform, y[i] = sum over j of
// cos(pi i (2 j + 1) / 128) x[j], with entries of {DIGITS} decimals. By its 64 diagonals, with baby-step giant-step: 18
// rotations instead of 63.
//
//   fhelium-run examples/matvec64.mlir

{parameters(8192, 1, first=60, special=60)}

func.func @matvec64(%x : !ckks.ciphertext {{ckks.slots = 64 : i64}}) -> !ckks.ciphertext {{
  %matrix = arith.constant {matrix(cosine_transform())}
  %y = ckks.linear_transform %x, %matrix : !ckks.ciphertext, tensor<64x64xf64>
  return %y : !ckks.ciphertext
}}

}}
"""


def logistic_weights() -> tuple[Array, float]:
    """Sixteen weights and a bias, with a sum of absolute values below 4."""
    i = np.arange(16)
    return rounded(0.36 * np.sin(1 + 2.3 * i)), 0.25


def sigmoid_coefficients() -> Array:
    """1 / (1 + exp(-4 t)) on [-1, 1], interpolated at 8 Chebyshev points."""
    c = interpolate(lambda t: 1 / (1 + np.exp(-4 * t)), 7)
    c[2::2] = 0  # the function less 1/2 is odd
    return np.round(c, 8) + 0.0


def logistic_regression() -> str:
    weights, bias = logistic_weights()
    return f"""\
// Logistic regression: the probability 1 / (1 + exp(-(w x + b))) for an encrypted vector x of 16 features in [-1, 1].
// w x + b is in [-4, 4]; there the sigmoid is a polynomial of degree 7, but for 0.002. Five levels.
//
//   fhelium-run examples/logistic_regression.mlir

{parameters(16384, 5)}

func.func @logistic_regression(%x : !ckks.ciphertext {{ckks.slots = 16 : i64}}) -> !ckks.ciphertext {{
  %w = arith.constant {vector(weights)}
  %weights = ckks.encode %w : tensor<16xf64> -> !ckks.plaintext
  %weighted = ckks.mul_plain %x, %weights : !ckks.ciphertext, !ckks.plaintext
  %sum = ckks.sum_slots %weighted {{count = 16}} : !ckks.ciphertext
  %b = arith.constant dense<{bias}> : tensor<1xf64>
  %bias = ckks.encode %b : tensor<1xf64> -> !ckks.plaintext
  // What is known of the weights: the compiler bounds the sum by 16 times the largest one.
  %z = ckks.add_plain %sum, %bias {{ckks.range = 4.0 : f64}} : !ckks.ciphertext, !ckks.plaintext
  %y = ckks.polynomial %z {{basis = "chebyshev", domain = array<f64: -4.0, 4.0>, coefficients = dense<
    {numbers(sigmoid_coefficients())}> : tensor<8xf64>}} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}}

}}
"""


def perceptron_weights() -> tuple[Array, ...]:
    """Weights and biases of both layers, [16, 16], [16], [16, 16] with four rows, [16]."""
    i, j = np.mgrid[0:16, 0:16]
    first = rounded(0.1 * np.sin(1 + 5 * i + 3 * j + i * j))
    second = rounded(0.2 * np.cos(2 + 3 * i + 7 * j + i * j)) * (i < 4)
    k = np.arange(16)
    return (
        first,
        rounded(0.3 * np.cos(1 + 2 * k)),
        second + 0.0,
        rounded(0.2 * np.sin(k + 1)) * (k < 4) + 0.0,
    )


def perceptron() -> str:
    first, first_bias, second, second_bias = perceptron_weights()
    return f"""\
// Perceptron of two layers: 16 inputs, 16 hidden neurons with the activation a(h) = 0.125 + 0.5 h + 0.25 h^2 (near
// max(h, 0)), four outputs in slots 0 to 3: W2 a(W1 x + b1) + b2. Four levels.
//
//   fhelium-run examples/perceptron.mlir

{parameters(16384, 4)}

func.func @perceptron(%x : !ckks.ciphertext {{ckks.slots = 16 : i64}}) -> !ckks.ciphertext {{
  %w1 = arith.constant {matrix(first)}
  %v1 = arith.constant {vector(first_bias)}
  %b1 = ckks.encode %v1 : tensor<16xf64> -> !ckks.plaintext
  %wx = ckks.linear_transform %x, %w1 : !ckks.ciphertext, tensor<16x16xf64>
  %h = ckks.add_plain %wx, %b1 : !ckks.ciphertext, !ckks.plaintext

  %a = ckks.polynomial %h {{coefficients = dense<[0.125, 0.5, 0.25]> : tensor<3xf64>}} : !ckks.ciphertext

  %w2 = arith.constant {matrix(second)}
  %v2 = arith.constant {vector(second_bias)}
  %b2 = ckks.encode %v2 : tensor<16xf64> -> !ckks.plaintext
  %wa = ckks.linear_transform %a, %w2 : !ckks.ciphertext, tensor<16x16xf64>
  %y = ckks.add_plain %wa, %b2 : !ckks.ciphertext, !ckks.plaintext
  return %y : !ckks.ciphertext
}}

}}
"""


def moving_average() -> str:
    return f"""\
// Moving average of an encrypted vector of 4096 numbers: y[i] = (x[i] + ... + x[i + 7]) / 8, indices modulo 4096.
// Written as a loop, which the compiler unrolls; the call is inlined, and the seven rotations of x share their
// decomposition. One level.
//
//   fhelium-run examples/moving_average.mlir

{parameters(8192, 1)}

func.func private @accumulate(%sum : !ckks.ciphertext, %x : !ckks.ciphertext, %steps : index) -> !ckks.ciphertext {{
  %turned = ckks.rotate_dynamic %x, %steps : !ckks.ciphertext, index
  %next = ckks.add %sum, %turned : !ckks.ciphertext
  return %next : !ckks.ciphertext
}}

func.func @moving_average(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
  %one = arith.constant 1 : index
  %width = arith.constant 8 : index
  %total = scf.for %k = %one to %width step %one iter_args(%sum = %x) -> (!ckks.ciphertext) {{
    %next = func.call @accumulate(%sum, %x, %k) : (!ckks.ciphertext, !ckks.ciphertext, index) -> !ckks.ciphertext
    scf.yield %next : !ckks.ciphertext
  }}
  %v = arith.constant dense<0.125> : tensor<1xf64>
  %eighth = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %y = ckks.mul_plain %total, %eighth : !ckks.ciphertext, !ckks.plaintext
  return %y : !ckks.ciphertext
}}

}}
"""


EXAMPLES: dict[str, Callable[[], str]] = {
    "sum": sum_of_slots,
    "exponential": exponential,
    "chebyshev": reciprocal,
    "variance": variance,
    "matvec64": matvec64,
    "logistic_regression": logistic_regression,
    "perceptron": perceptron,
    "moving_average": moving_average,
}


def main(names: list[str]) -> None:
    for name in names or EXAMPLES:
        (FOLDER / f"{name}.mlir").write_text(EXAMPLES[name](), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
