"""What a run of the fuzzer has covered, and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from fhelium_ir import universe
from fhelium_ir.dialects.ckks import Ckks
from fhelium_ir.testing.random_programs import RandomProgram
from fhelium_ir.testing.random_programs.facts import levels_used
from fhelium_ir.testing.random_programs.statements import Op, walk
from tests.fuzz_programs.checks import Seen

OPS = tuple(sorted(op.name for op in Ckks.operations))
PASSES = (*universe.PIPELINES[universe.DEFAULT_PIPELINE], "compose-rotations")


@dataclass
class Coverage:
    """Counts over all programs."""

    programs: int = 0
    broken: Counter[str] = field(default_factory=Counter[str])
    styles: Counter[str] = field(default_factory=Counter[str])
    written: Counter[str] = field(default_factory=Counter[str])
    compiled: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    depths: Counter[int] = field(default_factory=Counter[int])
    ring_degrees: Counter[int] = field(default_factory=Counter[int])
    limbs: Counter[int] = field(default_factory=Counter[int])
    digits: Counter[int] = field(default_factory=Counter[int])
    arithmetics: Counter[str] = field(default_factory=Counter[str])
    targets: Counter[str] = field(default_factory=Counter[str])
    pessimism: list[float] = field(default_factory=list[float])

    def add(self, program: RandomProgram, seen: Seen) -> None:
        """Counts one program."""
        self.programs += 1
        self.styles[program.style] += 1
        statements = [
            s for f in (program.function, *program.functions.values()) for s in walk(f.body)
        ]
        ops = [s for s in statements if isinstance(s, Op)]
        self.written.update(f"ckks.{op.kind}" for op in ops)
        self.compiled.update(seen.ops)
        self.changed.update(set(seen.changed))
        self.depths[depth_of(program)] += 1
        self.ring_degrees[program.parameters.ring_degree] += 1
        self.limbs[seen.limbs or len(program.parameters.q)] += 1
        self.digits[program.parameters.digit_count()] += 1
        self.arithmetics[seen.arithmetic] += 1
        self.targets.update(seen.targets)
        self.pessimism += seen.pessimism

    def missing(self) -> list[str]:
        """Ops, passes and arithmetics that have not been seen."""
        return [op for op in OPS if not self.written[op]] + [
            name for name in PASSES if not self.changed[name] and name != "ckks-check"
        ]

    def report(self) -> str:
        """Several lines of text."""
        worst, typical = min(self.pessimism, default=0.0), median(self.pessimism or [0.0])
        rows = [
            f"programs: {self.programs} ({_counts(self.styles)})",
            f"broken programs: {self.broken.total()} with {len(self.broken)} mistakes",
            f"ops as written: {_counts(self.written)}",
            f"ops of the program stage: {_counts(self.compiled)}",
            f"programs changed by each pass: {_counts(self.changed, PASSES)}",
            f"levels used: {_counts(self.depths, sorted(self.depths))}",
            f"ring degrees: {_counts(self.ring_degrees, sorted(self.ring_degrees))}",
            f"limbs: {_counts(self.limbs, sorted(self.limbs))}",
            f"digits: {_counts(self.digits, sorted(self.digits))}",
            f"arithmetics: {_counts(self.arithmetics)}",
            f"targets: {_counts(self.targets)}",
            f"precision report: {worst:.1f} bits pessimistic at least, {typical:.1f} in the median",
        ]
        return "\n".join(rows)


def depth_of(program: RandomProgram) -> int:
    """The longest chain of ops that take a level, loops counted once; rescales where they are written."""
    depths: dict[str, int] = {}
    stated = program.style in ("stated", "open")
    for statement in walk(program.function.body):
        if isinstance(statement, Op):
            before = max((depths.get(name, 0) for name in statement.operands), default=0)
            used = statement.kind == "rescale" if stated else levels_used(statement)
            depths[statement.result] = before + used
    return max(depths.values(), default=0)


def _counts(counter: Counter[str] | Counter[int], order: Iterable[str | int] | None = None) -> str:
    pairs = counter.most_common() if order is None else [(key, counter[key]) for key in order]  # type: ignore[index]
    return ", ".join(f"{key} {count}" for key, count in pairs)
