"""Tensor programs for HEIR, each with what it computes in numpy, and how heir-opt compiles it.

python examples/heir/programs.py                                # write the programs
python examples/heir/programs.py --heir-opt heir-opt 2026.11.1  # compile them into a folder of that name
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HERE = Path(__file__).parent
PRINT = ("--mlir-print-op-generic", "--mlir-print-local-scope")


@dataclass(frozen=True)
class TensorProgram:
    """A program before HEIR.

    Attributes:
        name: of the function.
        text: MLIR on tensors, with secret arguments.
        inputs: the shape of each argument; () is one number.
        compute: what it computes.
        slots: `min-slot-count` for heir-opt.
        bound: on the absolute value of the inputs.
        backend: that heir-opt compiles for. It decides which kernels stay whole: linear transforms for lattigo,
            Chebyshev series for lattigo and openfhe.
    """

    name: str
    text: str
    inputs: tuple[tuple[int, ...], ...]
    compute: Callable[..., Array | tuple[Array, ...]]
    slots: int
    bound: float = 1.0
    backend: str = "openfhe"

    def command(self, heir_opt: str, source: str, *, unroll: bool | None = None) -> list[str]:
        """How heir-opt compiles it. `unroll` is the option of releases that keep loops unless asked."""
        options = f"min-slot-count={self.slots} scaling-mod-bits=40 first-mod-bits=50"
        if unroll is not None:
            options += (
                f" {'unroll-fhe-kernel-loops' if unroll else 'experimental-disable-loop-unroll'}"
            )
        backend = f"--annotate-module=backend={self.backend} scheme=ckks"
        return [heir_opt, source, backend, f"--mlir-to-ckks={options}", *PRINT]


def type_of(shape: Sequence[int]) -> str:
    """`tensor<4x4xf32>`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def constant(values: Array) -> str:
    """A dense constant and its type."""
    return f"dense<{_nested(values)}> : {type_of(values.shape)}"


def _nested(values: Any) -> str:
    if np.ndim(values) == 0:
        return f"{float(values):.4f}"
    return f"[{', '.join(map(_nested, values))}]"


def random_constant(rng: np.random.Generator, shape: Sequence[int], bound: float) -> Array:
    """Numbers of four decimals, as HEIR stores them: rounded to 32-bit floats."""
    values = np.round(rng.uniform(-bound, bound, tuple(shape)), 4)
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def _function(
    name: str, arguments: Sequence[tuple[str, Sequence[int]]], body: str, results: str
) -> str:
    listed = ", ".join(f"%{a}: {type_of(shape)} {{secret.secret}}" for a, shape in arguments)
    return f"func.func @{name}({listed}) -> {results} {{\n{body}}}\n"


def _lines(*lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines)


def _power(size: int) -> int:
    """The smallest power of two that is not below."""
    return 1 << (size - 1).bit_length()


def dot_product(rng: np.random.Generator, n: int = 16) -> TensorProgram:
    t = type_of([n])
    body = _lines(
        "%zero = arith.constant dense<0.0> : tensor<f32>",
        f"%r = linalg.dot ins(%x, %y : {t}, {t}) outs(%zero : tensor<f32>) -> tensor<f32>",
        "%value = tensor.extract %r[] : tensor<f32>",
        "return %value : f32",
    )
    text = _function("dot_product", [("x", [n]), ("y", [n])], body, "f32")
    return TensorProgram("dot_product", text, ((n,), (n,)), lambda x, y: x @ y, _power(n))


def matvec(
    rng: np.random.Generator, rows: int = 8, columns: int = 8, backend: str = "lattigo"
) -> TensorProgram:
    m = random_constant(rng, (rows, columns), 0.5)
    b = random_constant(rng, (rows,), 0.5)
    body = _lines(
        f"%m = arith.constant {constant(m)}",
        f"%b = arith.constant {constant(b)}",
        f"%r = linalg.matvec ins(%m, %x : {type_of(m.shape)}, {type_of([columns])}) "
        f"outs(%b : {type_of([rows])}) -> {type_of([rows])}",
        f"return %r : {type_of([rows])}",
    )
    text = _function("matvec", [("x", [columns])], body, type_of([rows]))
    slots = _power(max(m.shape))
    return TensorProgram("matvec", text, ((columns,),), lambda x: m @ x + b, slots, backend=backend)


def matmul(rng: np.random.Generator, n: int = 3, k: int = 5, m: int = 2) -> TensorProgram:
    """Two secret matrices; HEIR wants sizes without common factors."""
    a, b, c = type_of([n, k]), type_of([k, m]), type_of([n, m])
    body = _lines(
        f"%zero = arith.constant dense<0.0> : {c}",
        f"%r = linalg.matmul ins(%x, %y : {a}, {b}) outs(%zero : {c}) -> {c}",
        f"return %r : {c}",
    )
    text = _function("matmul", [("x", [n, k]), ("y", [k, m])], body, c)
    slots = _power(max(n * k, k * m, n * m))
    return TensorProgram("matmul", text, ((n, k), (k, m)), lambda x, y: x @ y, 2 * slots)


def _convolve(x: Array, kernel: Array) -> Array:
    """No padding, stride 1, kernel not mirrored."""
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape)
    return np.einsum("ijkl,kl->ij", windows, kernel)


def _convolution(name: str, size: int, kernel: Array) -> TensorProgram:
    result = size - kernel.shape[0] + 1
    t = type_of([result, result])
    body = _lines(
        f"%k = arith.constant {constant(kernel)}",
        f"%zero = arith.constant dense<0.0> : {t}",
        f"%r = linalg.conv_2d ins(%x, %k : {type_of([size, size])}, {type_of(kernel.shape)}) "
        f"outs(%zero : {t}) -> {t}",
        f"return %r : {t}",
    )
    text = _function(name, [("x", [size, size])], body, t)
    slots = _power(size * size)
    return TensorProgram(name, text, ((size, size),), lambda x: _convolve(x, kernel), slots)


def convolution(rng: np.random.Generator, size: int = 4, kernel: int = 3) -> TensorProgram:
    return _convolution("convolution", size, random_constant(rng, (kernel, kernel), 0.5))


def box_blur(rng: np.random.Generator, size: int = 4, kernel: int = 2) -> TensorProgram:
    return _convolution("box_blur", size, np.round(np.ones((kernel, kernel)) / kernel**2, 4))


def gradient(rng: np.random.Generator, size: int = 4) -> TensorProgram:
    """Squared length of the Roberts gradient."""
    across, down = np.array([[1.0, 0.0], [0.0, -1.0]]) / 2, np.array([[0.0, 1.0], [-1.0, 0.0]]) / 2
    image, t = type_of([size, size]), type_of([size - 1, size - 1])
    convolve = f"ins(%x, %{{}} : {image}, tensor<2x2xf32>) outs(%zero : {t}) -> {t}"
    body = _lines(
        f"%a = arith.constant {constant(across)}",
        f"%d = arith.constant {constant(down)}",
        f"%zero = arith.constant dense<0.0> : {t}",
        f"%ga = linalg.conv_2d {convolve.format('a')}",
        f"%gd = linalg.conv_2d {convolve.format('d')}",
        f"%sa = arith.mulf %ga, %ga : {t}",
        f"%sd = arith.mulf %gd, %gd : {t}",
        f"%r = arith.addf %sa, %sd : {t}",
        f"return %r : {t}",
    )
    text = _function("gradient", [("x", [size, size])], body, t)

    def compute(x: Array) -> Array:
        return _convolve(x, across) ** 2 + _convolve(x, down) ** 2

    return TensorProgram("gradient", text, ((size, size),), compute, _power(size * size))


def distance(rng: np.random.Generator, n: int = 16) -> TensorProgram:
    """Squared Euclidean distance."""
    t = type_of([n])
    body = _lines(
        "%zero = arith.constant dense<0.0> : tensor<f32>",
        f"%d = arith.subf %x, %y : {t}",
        f"%r = linalg.dot ins(%d, %d : {t}, {t}) outs(%zero : tensor<f32>) -> tensor<f32>",
        "return %r : tensor<f32>",
    )
    text = _function("distance", [("x", [n]), ("y", [n])], body, "tensor<f32>")
    return TensorProgram(
        "distance", text, ((n,), (n,)), lambda x, y: np.sum((x - y) ** 2), _power(n)
    )


def polynomial(rng: np.random.Generator, n: int = 8) -> TensorProgram:
    """Degree 4, by powers: values of different depth are added."""
    c = random_constant(rng, (5,), 1.0)
    t = type_of([n])
    body = _lines(
        *(f"%c{k} = arith.constant dense<{value:.4f}> : {t}" for k, value in enumerate(c)),
        f"%x2 = arith.mulf %x, %x : {t}",
        f"%x3 = arith.mulf %x2, %x : {t}",
        f"%x4 = arith.mulf %x2, %x2 : {t}",
        f"%t1 = arith.mulf %x, %c1 : {t}",
        f"%t2 = arith.mulf %x2, %c2 : {t}",
        f"%t3 = arith.mulf %x3, %c3 : {t}",
        f"%t4 = arith.mulf %x4, %c4 : {t}",
        f"%s1 = arith.addf %t1, %c0 : {t}",
        f"%s2 = arith.addf %s1, %t2 : {t}",
        f"%s3 = arith.addf %s2, %t3 : {t}",
        f"%s4 = arith.addf %s3, %t4 : {t}",
        f"return %s4 : {t}",
    )
    text = _function("polynomial", [("x", [n])], body, t)
    return TensorProgram(
        "polynomial", text, ((n,),), lambda x: np.polynomial.polynomial.polyval(x, c), _power(n)
    )


def logistic_regression(rng: np.random.Generator, n: int = 16) -> TensorProgram:
    """A secret model on a secret sample, with a cubic for the sigmoid."""
    t = type_of([n])
    b = float(random_constant(rng, (), 0.5))
    c0, c1, c3 = (float(np.float32(value)) for value in (0.5, 0.2159, -0.0082))
    body = _lines(
        f"%b = arith.constant dense<{b:.4f}> : tensor<f32>",
        "%c0 = arith.constant dense<0.5> : tensor<f32>",
        "%c1 = arith.constant dense<0.2159> : tensor<f32>",
        "%c3 = arith.constant dense<-0.0082> : tensor<f32>",
        f"%h = linalg.dot ins(%x, %w : {t}, {t}) outs(%b : tensor<f32>) -> tensor<f32>",
        "%h2 = arith.mulf %h, %h : tensor<f32>",
        "%a = arith.mulf %h2, %c3 : tensor<f32>",
        "%d = arith.addf %a, %c1 : tensor<f32>",
        "%e = arith.mulf %d, %h : tensor<f32>",
        "%r = arith.addf %e, %c0 : tensor<f32>",
        "return %r : tensor<f32>",
    )
    text = _function("logistic_regression", [("x", [n]), ("w", [n])], body, "tensor<f32>")

    def compute(x: Array, w: Array) -> Array:
        h = x @ w + b
        return c0 + c1 * h + c3 * h**3

    return TensorProgram(
        "logistic_regression", text, ((n,), (n,)), compute, _power(n), (4.0 / n) ** 0.5
    )


def perceptron(
    rng: np.random.Generator, inputs: int = 8, hidden: int = 8, outputs: int = 4
) -> TensorProgram:
    """Two layers with squares between them."""
    w1, b1 = random_constant(rng, (hidden, inputs), 0.3), random_constant(rng, (hidden,), 0.1)
    w2, b2 = random_constant(rng, (outputs, hidden), 0.3), random_constant(rng, (outputs,), 0.1)
    x, h, y = type_of([inputs]), type_of([hidden]), type_of([outputs])
    body = _lines(
        f"%w1 = arith.constant {constant(w1)}",
        f"%b1 = arith.constant {constant(b1)}",
        f"%w2 = arith.constant {constant(w2)}",
        f"%b2 = arith.constant {constant(b2)}",
        f"%h = linalg.matvec ins(%w1, %x : {type_of(w1.shape)}, {x}) outs(%b1 : {h}) -> {h}",
        f"%a = arith.mulf %h, %h : {h}",
        f"%r = linalg.matvec ins(%w2, %a : {type_of(w2.shape)}, {h}) outs(%b2 : {y}) -> {y}",
        f"return %r : {y}",
    )
    text = _function("perceptron", [("x", [inputs])], body, y)

    def compute(x: Array) -> Array:
        return w2 @ (w1 @ x + b1) ** 2 + b2

    slots = _power(max(inputs, hidden, outputs))
    return TensorProgram("perceptron", text, ((inputs,),), compute, slots)


def variance(rng: np.random.Generator, n: int = 16) -> TensorProgram:
    t = type_of([n])
    body = _lines(
        "%zero = arith.constant dense<0.0> : tensor<f32>",
        f"%n = arith.constant dense<{1 / n}> : tensor<f32>",
        f"%s = linalg.reduce {{ arith.addf }} ins(%x : {t}) outs(%zero : tensor<f32>) dimensions = [0]",
        f"%q = linalg.dot ins(%x, %x : {t}, {t}) outs(%zero : tensor<f32>) -> tensor<f32>",
        "%mean = arith.mulf %s, %n : tensor<f32>",
        "%squares = arith.mulf %q, %n : tensor<f32>",
        "%square = arith.mulf %mean, %mean : tensor<f32>",
        "%r = arith.subf %squares, %square : tensor<f32>",
        "return %r : tensor<f32>",
    )
    text = _function("variance", [("x", [n])], body, "tensor<f32>")
    return TensorProgram("variance", text, ((n,),), lambda x: np.var(x), _power(n))


def comparison(rng: np.random.Generator, n: int = 8) -> TensorProgram:
    """About 1 where x > y, about 0 where x < y: (3 t - t^3) / 2, twice over."""
    t = type_of([n])
    lines = [
        f"%c = arith.constant dense<1.5> : {t}",
        f"%h = arith.constant dense<0.5> : {t}",
        f"%d = arith.subf %x, %y : {t}",
        f"%f0 = arith.mulf %d, %h : {t}",
    ]
    for k in range(2):
        lines += [
            f"%s{k} = arith.mulf %f{k}, %f{k} : {t}",
            f"%t{k} = arith.mulf %s{k}, %h : {t}",
            f"%u{k} = arith.subf %c, %t{k} : {t}",
            f"%f{k + 1} = arith.mulf %u{k}, %f{k} : {t}",
        ]
    lines += [
        f"%g = arith.mulf %f2, %h : {t}",
        f"%r = arith.addf %g, %h : {t}",
        f"return %r : {t}",
    ]
    text = _function("comparison", [("x", [n]), ("y", [n])], _lines(*lines), t)

    def compute(x: Array, y: Array) -> Array:
        f = (x - y) / 2
        for _ in range(2):
            f = f * (3 - f * f) / 2
        return f / 2 + 0.5

    return TensorProgram("comparison", text, ((n,), (n,)), compute, _power(n))


def weighing(rng: np.random.Generator, n: int = 8) -> TensorProgram:
    """With arguments that are not secret: a vector of weights, encoded when the program runs."""
    t = type_of([n])
    text = (
        f"func.func @weighing(%w: {t}, %x: {t} {{secret.secret}}, %y: {t} {{secret.secret}}) "
        f"-> ({t}, {t}) {{\n"
        + _lines(
            f"%a = arith.mulf %x, %w : {t}",
            f"%b = arith.addf %a, %y : {t}",
            f"%c = arith.subf %y, %w : {t}",
            f"return %b, %c : {t}, {t}",
        )
        + "}\n"
    )

    def compute(w: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return x * w + y, y - w

    return TensorProgram("weighing", text, ((n,), (n,), (n,)), compute, _power(n))


def activation(rng: np.random.Generator, n: int = 8, degree: int = 7) -> TensorProgram:
    """tanh on [-2, 2]: HEIR leaves a Chebyshev series, which it computes itself. The series is that of HEIR, so the
    tests compare with tanh and allow for the difference."""
    t = type_of([n])
    body = _lines(
        f"%r = math.tanh %x {{domain_lower = -2.0 : f64, domain_upper = 2.0 : f64, degree = {degree} : i32}} : {t}",
        f"return %r : {t}",
    )
    text = _function("activation", [("x", [n])], body, t)
    return TensorProgram("activation", text, ((n,),), np.tanh, _power(n), 2.0)


BUILDERS: dict[str, Callable[[np.random.Generator], TensorProgram]] = {
    "dot_product": dot_product,
    "matvec": matvec,
    "matmul": matmul,
    "convolution": convolution,
    "box_blur": box_blur,
    "gradient": gradient,
    "distance": distance,
    "polynomial": polynomial,
    "logistic_regression": logistic_regression,
    "perceptron": perceptron,
    "variance": variance,
    "comparison": comparison,
    "weighing": weighing,
    "activation": activation,
}

RELEASES = ("2026.9.1", "2026.11.1")
"""Of heir_py, whose output is stored. The first unrolls the loops of its kernels, the second keeps them."""


def stored_programs() -> dict[str, TensorProgram]:
    """The programs of this folder."""
    return {
        name: build(np.random.default_rng(number))
        for number, (name, build) in enumerate(BUILDERS.items())
    }


def compile_program(
    program: TensorProgram, heir_opt: str, source: str, *, unroll: bool | None = None
) -> str:
    """What heir-opt prints; raises CalledProcessError. Its exit code counts, not what it says on standard error."""
    command = program.command(heir_opt, source, unroll=unroll)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heir-opt", metavar="PATH", help="compile with this heir-opt")
    parser.add_argument("release", nargs="?", help="the folder for what it prints")
    options = parser.parse_args()
    for name, program in stored_programs().items():
        path = HERE / f"{name}.mlir"
        command = " ".join(
            f"'{w}'" if " " in w else w for w in program.command("heir-opt", path.name)
        )
        path.write_text(f"// {command}\n{program.text}", encoding="utf-8")
        if options.heir_opt is not None:
            folder = HERE / options.release
            folder.mkdir(exist_ok=True)
            text = compile_program(program, options.heir_opt, str(path))
            (folder / path.name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
