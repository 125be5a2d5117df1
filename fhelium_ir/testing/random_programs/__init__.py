"""Random CKKS programs, valid ones and slightly broken ones, for tests of the compiler and of passes.

    from fhelium_ir.testing.random_programs import Choices, make_program

    program = make_program(Choices.seeded("any text"))

`strategies` makes the same programs as a hypothesis strategy.
"""

from fhelium_ir.testing.random_programs.choices import Choices
from fhelium_ir.testing.random_programs.program import RandomProgram, Setting, make_program

__all__ = ["Choices", "RandomProgram", "Setting", "make_program"]
