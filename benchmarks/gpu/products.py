"""Modular products of a row, counted in its kernels: trip counts of loops come from the tables that they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import host, kernel, resource, zq

Numbers = NDArray[np.int64]
"""One for each program row of a launch."""

_BINARY: dict[type[Operation], Callable[[Numbers, Numbers], Numbers]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.ShLIOp: np.left_shift,
    arith.ShRUIOp: np.right_shift,
    arith.AndIOp: np.bitwise_and,
    arith.MinUIOp: np.minimum,
    arith.MaxUIOp: np.maximum,
}
_SAME = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp)


def count_products(module: ModuleOp) -> dict[str, int]:
    """Products of all launches of a module by arithmetic; `mont32_shoup` are those with a stored quotient.

    Args:
        module: kernels with `zq` ops and one host program without loops.

    Raises:
        FheliumError: how often a loop runs is not known before the run.
    """
    total: dict[str, int] = {}
    for op in module.walk():
        if isinstance(op, host.LaunchOp):
            for name, count in _Launch(module, op).count().items():
                total[name] = total.get(name, 0) + count
    return total


@dataclass
class _Launch:
    module: ModuleOp
    op: host.LaunchOp
    values: dict[SSAValue, Numbers] = field(default_factory=dict[SSAValue, Numbers])
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def count(self) -> dict[str, int]:
        """Products of all programs and lanes."""
        func = SymbolTable.lookup_symbol(self.module, self.op.callee)
        assert isinstance(func, kernel.FuncOp)
        grid = list(cast("Sequence[int]", self.op.grid.get_values()))
        self.rows = np.arange(grid[1] if len(grid) > 1 else 1, dtype=np.int64)
        for argument, value in zip(func.body.block.args, self.op.arguments, strict=True):
            self.buffers[argument] = value
        programs = grid[0] * prod(grid[2:])
        counts = self._block(func.body.block)
        lanes = func.lane_count
        return {name: int(found.sum()) * programs * lanes for name, found in counts.items()}

    def _block(self, block: Block) -> dict[str, Numbers]:
        """Products of one lane, for each program row."""
        found: dict[str, Numbers] = {}

        def add(name: str, count: Numbers) -> None:
            found[name] = found.get(name, np.zeros_like(self.rows)) + count

        for op in block.ops:
            if isinstance(op, zq.MulOp | zq.MulShoupOp):
                assert isinstance(op.modulus.type, zq.ModulusType)
                name = op.modulus.type.arithmetic.name
                shoup = isinstance(op, zq.MulShoupOp)
                add(f"{name}_shoup" if shoup else name, np.ones_like(self.rows))
            elif isinstance(op, scf.ForOp):
                first, last, step = (self._number(value) for value in (op.lb, op.ub, op.step))
                trips = np.maximum(0, -((first - last) // step))
                for name, count in self._block(op.body.block).items():
                    add(name, trips * count)
        return found

    def _number(self, value: SSAValue) -> Numbers:
        if value not in self.values:
            self.values[value] = self._evaluate(value)
        return self.values[value]

    def _evaluate(self, value: SSAValue) -> Numbers:
        if value in self.buffers:
            return self.rows * 0 + _constant(self.buffers[value])
        if isinstance(value, BlockArgument):
            raise FheliumError("the bound of a loop depends on another loop")
        op = value.owner
        if isinstance(op, arith.ConstantOp):
            return self.rows * 0 + _constant(value)
        if isinstance(op, kernel.ProgramIdOp) and op.axis.value.data == 1:
            return self.rows
        if isinstance(op, kernel.LoadOp):
            return self._table(op.buffer)[self._number(op.offset)]
        if isinstance(op, _SAME):
            return self._number(op.operands[0])
        function = _BINARY.get(type(op)) if isinstance(op, Operation) else None
        if function is None or not isinstance(op, Operation):
            raise FheliumError(f"the bound of a loop depends on '{getattr(op, 'name', op)}'")
        return function(self._number(op.operands[0]), self._number(op.operands[1]))

    def _table(self, buffer: SSAValue) -> Numbers:
        """The contents of a declared table of row numbers."""
        given = self.buffers.get(buffer)
        found = given.owner if given is not None else None
        if not isinstance(found, host.ResourceOp):
            raise FheliumError("the bound of a loop is loaded from a buffer that is no table")
        declared = SymbolTable.lookup_symbol(self.module, found.symbol)
        assert isinstance(declared, resource.DeclareOp)
        values: Attribute | None = declared.parameters.data.get("values")
        if not isinstance(values, DenseIntOrFPElementsAttr):
            raise FheliumError(f"the contents of @{declared.sym_name.data} are not in the program")
        return np.array(values.get_values(), dtype=np.int64)


def _constant(value: SSAValue) -> int:
    op = value.owner
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, IntegerAttr):
        raise FheliumError("a scalar argument of a launch is no constant")
    return op.value.value.data


def products_seconds(products: Mapping[str, int], rates: Mapping[str, float]) -> float:
    """What the products take at the rates of each kind.

    Products of signed words have the multiplications of unsigned ones, whichever of the two chains was faster.
    """
    best = dict(rates)
    if zq.SIGNED in best:
        best[zq.SIGNED] = max(best[zq.SIGNED], best["mont32"])
    return sum(count / best[name] for name, count in products.items())
