"""The part of llvmlite.ir that fhelium_ir.lowering.cpu.loop_marks uses."""

from collections.abc import Sequence

class Type: ...

class IntType(Type):
    def __init__(self, bits: int) -> None: ...

class Value: ...

class Constant(Value):
    def __init__(self, typ: Type, constant: int) -> None: ...

class MDValue(Value):
    operands: tuple[Value, ...]

class Instruction(Value):
    opname: str
    def set_metadata(self, name: str, node: MDValue) -> None: ...

class Block(Value):
    instructions: list[Instruction]
    @property
    def terminator(self) -> Instruction: ...

class Function(Value):
    blocks: list[Block]

class Module:
    def add_metadata(self, operands: Sequence[Value | str]) -> MDValue: ...
    def get_global(self, name: str) -> Function: ...
