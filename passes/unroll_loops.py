"""`unroll-loops`: straight-line programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.integer_folding import fold, folds, width

PASS = "unroll-loops"

LIMIT = 100_000


@dataclass(frozen=True)
class UnrollLoops(ModulePass):
    """Unrolls loops, decides branches, inlines calls and folds integers.

    Bounds of `scf.for`, conditions of `scf.if` and `arith.select`, and the steps of `ckks.rotate_dynamic` must follow
    from constants and induction variables. Private functions are removed, as nobody can ask for them any more.

    Options:
        limit: how many ops and iterations a function may have when it is unrolled.
    """

    name = PASS
    limit: int = LIMIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        bodies: dict[func.FuncOp, Block] = {}
        inlined = [f for f in functions.values() if _is_private(f) and not f.is_declaration]
        for function in functions.values():
            if function in inlined or function.is_declaration:
                continue
            if any(map(_is_dynamic, function.walk())):
                bodies[function] = _Unroller(functions, self.limit).run(function)
        # Nothing has changed yet: an error leaves the module as it was.
        for function, block in bodies.items():
            function.detach_region(function.body)
            function.add_region(Region(block))
            count = len(list(block.ops))
            remark(PASS, function, "applied", f"@{function.sym_name.data} has {count} ops")
        for function in inlined:
            function.detach()
            function.erase()


def _is_dynamic(op: Operation) -> bool:
    """Whether the pass has something to do with an op."""
    if isinstance(op, func.FuncOp):
        return len(op.body.blocks) != 1
    return (
        op.name.startswith("scf.")
        or folds(op)
        or isinstance(op, func.CallOp | ckks.RotateDynamicOp | arith.SelectOp)
    )


def _is_private(function: func.FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"


@dataclass
class _Unroller:
    """Runs one function: integers are computed, all other ops are written."""

    functions: Mapping[str, func.FuncOp]
    limit: int
    block: Block = field(default_factory=Block)
    integers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    stack: list[str] = field(default_factory=list[str])
    count: int = 0

    def run(self, function: func.FuncOp) -> Block:
        """The unrolled body."""
        for argument in function.args:
            new = self.block.insert_arg(argument.type, len(self.block.args))
            new.name_hint = argument.name_hint
            self.values[argument] = new
        last = self._function(function)
        self._write(last)
        return self.block

    def _function(self, function: func.FuncOp) -> Operation:
        """Runs a function's body; returns its terminator."""
        name = function.sym_name.data
        if len(function.body.blocks) != 1:
            raise FheliumError(
                f"{PASS}: @{name} has several blocks: write loops and branches with scf.for and "
                "scf.if",
                location_of(function),
            )
        self.stack.append(name)
        last = self._run(function.body.block)
        self.stack.pop()
        return last

    def _run(self, block: Block) -> Operation:
        """Runs the ops of a block but the last one, the terminator, and returns that."""
        last = block.last_op
        if last is None:
            raise FheliumError(f"{PASS}: a block without a terminator")
        for op in block.ops:
            if op is not last:
                self._step(op)
        return last

    def _spend(self, op: Operation) -> None:
        self.count += 1
        if self.count > self.limit:
            raise FheliumError(
                f"{PASS}: @{self.stack[0]} takes more than {self.limit} ops and iterations; "
                f"{PASS}{{limit=...}} allows more",
                location_of(op),
            )

    def _step(self, op: Operation) -> None:
        self._spend(op)
        match op:
            case scf.ForOp():
                self._for(op)
            case scf.IfOp():
                self._if(op)
            case func.CallOp():
                self._call(op)
            case ckks.RotateDynamicOp():
                self._rotate(op)
            case arith.SelectOp():
                self._select(op)
            case _ if op.regions:
                raise FheliumError(
                    f"{PASS}: {op.name} cannot be unrolled; scf.for, scf.if and func.call can",
                    location_of(op),
                )
            case _ if folds(op) and all(width(v.type) is not None for v in op.results):
                operands = [self._integer(v, op, f"operand {i}") for i, v in enumerate(op.operands)]
                self.integers[op.results[0]] = fold(op, operands)
            case _:
                self._write(op)

    def _write(self, op: Operation) -> None:
        for value in op.operands:
            if value in self.integers:
                raise FheliumError(
                    f"{PASS}: {op.name} takes an integer; integers are for loop bounds, conditions "
                    "and steps only",
                    location_of(op),
                )
        new = op.clone(self.values)
        self.block.add_op(new)
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint

    def _integer(self, value: SSAValue, op: Operation, label: str) -> int:
        if value in self.integers:
            return self.integers[value]
        source = self.values.get(value, value)
        name = f"%{value.name_hint}" if value.name_hint else "it"
        if isinstance(source, BlockArgument):
            reason = f"{name} is an argument of @{self.stack[0]}"
        else:
            owner = source.owner
            reason = f"{name} comes from {owner.name}" if isinstance(owner, Operation) else name
        raise FheliumError(
            f"{PASS}: {op.name}: the {label} must follow from constants and induction variables, "
            f"but {reason}",
            location_of(op),
        )

    def _bind(self, targets: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        """Gives targets the values of sources, all at once."""
        bound = [(self.integers.get(s), self.values.get(s)) for s in sources]
        for target, (integer, value) in zip(targets, bound, strict=True):
            self.integers.pop(target, None)
            self.values.pop(target, None)
            if integer is not None:
                self.integers[target] = integer
            elif value is not None:
                self.values[target] = value

    def _for(self, op: scf.ForOp) -> None:
        start = self._integer(op.lb, op, "lower bound")
        stop = self._integer(op.ub, op, "upper bound")
        step = self._integer(op.step, op, "step")
        if step < 1:
            raise FheliumError(f"{PASS}: {op.name}: the step is {step}", location_of(op))
        body = op.body.block
        carried = list(body.args)[1:]
        self._bind(carried, op.iter_args)
        for index in range(start, stop, step):
            self._spend(op)
            self.integers[body.args[0]] = index
            last = self._run(body)
            self._bind(carried, last.operands)
        self._bind(op.results, carried)

    def _if(self, op: scf.IfOp) -> None:
        condition = self._integer(op.cond, op, "condition")
        region = op.true_region if condition else op.false_region
        if region.blocks:
            last = self._run(region.block)
            self._bind(op.results, last.operands)

    def _select(self, op: arith.SelectOp) -> None:
        condition = self._integer(op.cond, op, "condition")
        self._bind([op.result], [op.lhs if condition else op.rhs])

    def _rotate(self, op: ckks.RotateDynamicOp) -> None:
        steps = self._integer(op.steps, op, "number of steps")
        properties: dict[str, Attribute] = {"steps": IntegerAttr(steps, i64)}
        new = ckks.RotateOp.create(
            operands=[self.values[op.operand]],
            result_types=[op.result.type],
            properties=properties,
            attributes=dict(op.attributes),
        )
        new.location = op.location
        new.result.name_hint = op.result.name_hint
        self.block.add_op(new)
        self.values[op.result] = new.result

    def _call(self, op: func.CallOp) -> None:
        name = op.callee.string_value()
        if name in self.stack:
            path = " -> ".join(f"@{n}" for n in [*self.stack[self.stack.index(name) :], name])
            raise FheliumError(f"{PASS}: recursive calls: {path}", location_of(op))
        callee = self.functions[name]  # the verifier has found it, and compared the types
        if callee.is_declaration:
            raise FheliumError(f"{PASS}: @{name} has no body", location_of(op))
        self._bind(list(callee.args), op.operands)
        last = self._function(callee)
        self._bind(op.results, last.operands)
