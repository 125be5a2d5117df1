"""Loops, branches and calls, run on plain vectors once they are unrolled."""

from __future__ import annotations

import numpy as np
import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.printing import mlir_text
from tests.unit.passes.expanding import CHECKED, after, chain, cleartext, count, program

X = np.arange(8.0) / 8

CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(9))


def test_a_sum_of_products_in_a_loop() -> None:
    """The sum over k < 4 of (-1)^k x[j + k^2]."""
    body = f"""{CONSTANTS}
      %r = scf.for %k = %c1 to %c4 step %c1 iter_args(%s = %x) -> (!ckks.ciphertext) {{
        %kk = arith.muli %k, %k : index
        %t = ckks.rotate_dynamic %x, %kk : !ckks.ciphertext, index
        %bit = arith.remui %k, %c2 : index
        %odd = arith.cmpi eq, %bit, %c1 : index
        %n = scf.if %odd -> (!ckks.ciphertext) {{
          %d = ckks.sub %s, %t : !ckks.ciphertext
          scf.yield %d : !ckks.ciphertext
        }} else {{
          %a = ckks.add %s, %t : !ckks.ciphertext
          scf.yield %a : !ckks.ciphertext
        }}
        scf.yield %n : !ckks.ciphertext
      }}"""
    module = after(program(body), "unroll-loops")
    expected = sum((-1) ** k * np.roll(X, -k * k) for k in range(4))
    np.testing.assert_allclose(cleartext(module, x=X), expected)
    assert not any(op.name.startswith("scf.") for op in module.walk())
    assert count(module, "ckks.rotate") == 3


@pytest.mark.parametrize(
    "start, stop, step", [(0, 8, 3), (7, 2, 1), (0, 0, 1), (2, 3, 5), (1, 8, 7)]
)
def test_a_loop_runs_as_often_as_a_range(start: int, stop: int, step: int) -> None:
    body = f"""{CONSTANTS}
      %r = scf.for %k = %c{start} to %c{stop} step %c{step} iter_args(%s = %x) -> (!ckks.ciphertext) {{
        %t = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
        %n = ckks.add %s, %t : !ckks.ciphertext
        scf.yield %n : !ckks.ciphertext
      }}"""
    expected = X + sum((np.roll(X, -k) for k in range(start, stop, step)), np.zeros(8))
    np.testing.assert_allclose(cleartext(after(program(body), "unroll-loops"), x=X), expected)


def module_of(functions: str) -> str:
    return f"module attributes {{ckks.params = {chain(16, 2)}}} {{\n{functions}\n}}"


def test_a_function_that_is_called_twice_runs_twice() -> None:
    text = module_of("""
      func.func private @axpy(%k : index, %x : !ckks.ciphertext, %y : !ckks.ciphertext) -> (!ckks.ciphertext, index) {
        %t = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
        %s = ckks.add %t, %y : !ckks.ciphertext
        %n = arith.addi %k, %k : index
        return %s, %n : !ckks.ciphertext, index
      }
      func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
        %k = arith.constant 1 : index
        %a, %l = func.call @axpy(%k, %x, %x) : (index, !ckks.ciphertext, !ckks.ciphertext) -> (!ckks.ciphertext, index)
        %b, %m = func.call @axpy(%l, %a, %x) : (index, !ckks.ciphertext, !ckks.ciphertext) -> (!ckks.ciphertext, index)
        return %b : !ckks.ciphertext
      }""")
    module = parse_module(universe.make_context(), text)
    Pipeline.parse("unroll-loops").run(universe.make_context(), module)
    a = np.roll(X, -1) + X
    np.testing.assert_allclose(cleartext(module, x=X), np.roll(a, -2) + X)
    assert count(module, "func.func") == 1


def test_a_failed_run_changes_nothing() -> None:
    text = module_of("""
      func.func private @half(%x : !ckks.ciphertext) -> !ckks.ciphertext {
        return %x : !ckks.ciphertext
      }
      func.func @good(%x : !ckks.ciphertext) -> !ckks.ciphertext {
        %y = func.call @half(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
        return %y : !ckks.ciphertext
      }
      func.func @bad(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
        %y = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
        return %y : !ckks.ciphertext
      }""")
    module = parse_module(universe.make_context(), text)
    before = mlir_text(module)
    with pytest.raises(FheliumError, match="%k is an argument of @bad"):
        Pipeline.parse("unroll-loops").run(universe.make_context(), module)
    assert mlir_text(module) == before


def test_the_name_of_an_argument_in_an_inlined_function() -> None:
    text = module_of("""
      func.func @turn(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
        %y = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
        return %y : !ckks.ciphertext
      }""")
    module = parse_module(universe.make_context(), text, "a.mlir")
    with pytest.raises(FheliumError) as caught:
        Pipeline.parse("unroll-loops").run(universe.make_context(), module)
    assert caught.value.location == "a.mlir:4:14"


def test_straight_programs_stay_as_they_are() -> None:
    module = program("%r = ckks.negate %x : !ckks.ciphertext")
    (function,) = module.ops
    Pipeline.parse("unroll-loops").run(universe.make_context(), module)
    assert list(module.ops) == [function]


def test_the_limit_counts_ops_and_iterations() -> None:
    body = f"""{CONSTANTS}
      %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %x) -> (!ckks.ciphertext) {{
        %n = ckks.negate %s : !ckks.ciphertext
        scf.yield %n : !ckks.ciphertext
      }}"""
    module = program(body)
    needed = 9 + 1 + 8 + 8  # constants, loop, iterations, negations
    after(module, f"unroll-loops{{limit={needed}}}")
    with pytest.raises(FheliumError, match=f"@f takes more than {needed - 1} ops and iterations"):
        after(module, f"unroll-loops{{limit={needed - 1}}}")


def test_structured_ops_in_loops() -> None:
    """x, then twice 2 x^2 - 1: T_4."""
    body = f"""{CONSTANTS}
      %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %x) -> (!ckks.ciphertext) {{
        %n = ckks.polynomial %s {{coefficients = dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>}} :
          !ckks.ciphertext
        scf.yield %n : !ckks.ciphertext
      }}"""
    module = after(program(body), CHECKED)
    np.testing.assert_allclose(cleartext(module, x=X), np.cos(4 * np.arccos(X)), atol=1e-14)
