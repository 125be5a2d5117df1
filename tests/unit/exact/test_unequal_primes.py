"""Programs whose primes differ much in size: words of one prime are no words of another."""

from __future__ import annotations

from fhelium_ir.parameters import Parameters
from tests.unit.exact.test_float_programs import PRODUCTS, program
from tests.unit.exact.test_mixed_programs import check
from tests.unit.reference.textbook import primes_below

DEGREE = 16


def test_rows_without_a_digit_in_a_program_of_rows() -> None:
    """A row that has fewer digits than others of its program computes no words of another row's prime."""
    wide, narrow = primes_below(1 << 61, DEGREE), primes_below(1 << 24, DEGREE)
    large, small = [next(wide) for _ in range(2)], [next(narrow) for _ in range(3)]
    q, p = (small[0], small[1], large[0]), (small[2], large[1])
    text = program(Parameters(DEGREE, q, p, 2, 20, insecure=True), PRODUCTS)
    kernels = check(text.replace("<fp64>", "<mont64>"), "interpreter", "interpret")
    assert any("key_product" in name for name in kernels)
