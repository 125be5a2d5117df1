"""The generator as a hypothesis strategy; needs hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from fhelium_ir.testing.random_programs.choices import Choices
from fhelium_ir.testing.random_programs.program import RandomProgram, make_program


@st.composite
def random_programs(draw: st.DrawFn, longest: int = 14) -> RandomProgram:
    """Valid programs; simple ones are short, on small rings, with one argument."""
    return make_program(
        Choices(lambda low, high: draw(st.integers(min_value=low, max_value=high))), longest
    )
