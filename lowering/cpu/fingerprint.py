"""What a kernel is, apart from its name: the key under which its machine code is kept.

The text that is hashed says what printed IR says, with numbers for the names of values and without
the symbol, so that renamed kernels share their code. Printing proper takes four times as long.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from xdsl.ir import Attribute, Block, Operation, SSAValue

import fhelium_ir
from fhelium_ir.dialects import kernel


class Fingerprints:
    """Hashes kernels.

    Args:
        environment: everything else that decides what a kernel compiles to.
    """

    def __init__(self, environment: str):
        self._start = hashlib.sha256(environment.encode())
        self._attributes: dict[Attribute, str] = {}
        # Hashing an attribute takes longer than its text does, so that they are found by identity where they can be.
        self._by_identity: dict[int, str] = {}
        self._kept: list[Attribute] = []

    def of(self, func: kernel.FuncOp) -> str:
        """A hexadecimal digest, the same for kernels that differ in their symbol only."""
        digest = self._start.copy()
        digest.update(b"\0")
        digest.update(self.text(func).encode())
        return digest.hexdigest()

    def text(self, func: kernel.FuncOp) -> str:
        """The text that is hashed after the environment."""
        numbers: dict[SSAValue, int] = {}
        blocks: dict[Block, int] = {}
        lines: list[str] = []
        for name, value in sorted(func.properties.items()):
            if name != "sym_name":
                lines.append(f"{name}={self._attribute(value)}")
        for name, value in sorted(func.attributes.items()):
            lines.append(f"{name}:{self._attribute(value)}")
        self._block(func.body.block, numbers, blocks, lines)
        return "\n".join(lines)

    def _block(
        self,
        block: Block,
        numbers: dict[SSAValue, int],
        blocks: dict[Block, int],
        lines: list[str],
    ) -> None:
        for argument in block.args:
            numbers[argument] = len(numbers)
        lines.append("^" + ",".join([self._attribute(argument.type) for argument in block.args]))
        for op in block.ops:
            self._operation(op, numbers, blocks, lines)
        lines.append("$")

    def _operation(
        self,
        op: Operation,
        numbers: dict[SSAValue, int],
        blocks: dict[Block, int],
        lines: list[str],
    ) -> None:
        attribute = self._attribute
        parts = [op.name, *[f"%{numbers[operand]}" for operand in op.operands]]
        for result in op.results:
            numbers[result] = len(numbers)
            parts.append(attribute(result.type))
        if op.properties:
            parts += [f"{name}={attribute(value)}" for name, value in sorted(op.properties.items())]
        if op.attributes:
            parts += [f"{name}:{attribute(value)}" for name, value in sorted(op.attributes.items())]
        for successor in op.successors:
            parts.append(f"^{blocks.setdefault(successor, len(blocks))}")
        lines.append(" ".join(parts))
        for region in op.regions:
            lines.append("{")
            for block in region.blocks:
                lines.append(f"^{blocks.setdefault(block, len(blocks))}")
                self._block(block, numbers, blocks, lines)
            lines.append("}")

    def _attribute(self, attribute: Attribute) -> str:
        known = self._by_identity.get(id(attribute))
        if known is None:
            known = self._attributes.get(attribute)
            if known is None:
                known = self._attributes[attribute] = str(attribute)
            self._by_identity[id(attribute)] = known
            # An identity says nothing once its object is gone.
            self._kept.append(attribute)
        return known


@cache
def compiler_description() -> str:
    """The version of everything that turns a kernel into LLVM IR.

    The sources of this package are part of it: a version number does not change with every edit.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    try:
        xdsl = version("xdsl")
    except PackageNotFoundError:
        xdsl = "unknown"
    return f"fhelium-ir {fhelium_ir.__version__} {digest.hexdigest()}\nxdsl {xdsl}"
