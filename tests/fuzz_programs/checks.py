"""What every random program has to pass: stage by stage, target by target, and decrypted."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr

from fhelium_ir import universe
from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.analysis.ranges import argument_attribute, argument_range
from fhelium_ir.backend.program import entry_function
from fhelium_ir.client.client import Client
from fhelium_ir.client.encoding import replicate
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.compiler.remarks import collect_remarks
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks, resource
from fhelium_ir.lowering.link import link
from fhelium_ir.passes.automatic_levels import is_unmanaged
from fhelium_ir.reference.blocks import KeyName
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.program import run_program
from fhelium_ir.testing.random_programs import Setting

Residues = NDArray[np.int64]
Vector = NDArray[np.complex128]

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]
FIRST_POLYNOMIAL_PASS = "convert-ckks-to-rns"
FIRST_KERNEL_PASS = "convert-regions-to-kernels"
PRINTED_LIMIT = 400_000
"""Characters: kernels that are longer are not parsed again, which takes seconds."""

SWITCHES = (ckks.RotateOp, ckks.ConjugateOp, ckks.RelinearizeOp, ckks.RescaleOp)

OPTIMISM_BITS = 2.0
FLOAT_ERROR = 2.0**-40
"""Of the transforms of encoding and decoding, relative to the largest value on the way."""


class CheckFailed(Exception):
    """A program does not do what it should.

    Attributes:
        check: which check it is, such as "polynomial after place-domains".
    """

    def __init__(self, check: str, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check


@dataclass(frozen=True)
class Effort:
    """How much of a program is checked.

    Attributes:
        inputs: residues that stages are compared on: "encrypted", "random" or "largest" (q - 1).
        targets: run and compared; "interpret" and "zq" are the kernel interpreter, after and before
            convert-zq-to-arith.
        printed: passes whose result is printed and parsed again, besides the program stage.
        skipped: passes whose result is not interpreted, if it is of the polynomial stage.
        switches: key switches and rescales up to which targets are run.
    """

    inputs: str = "encrypted"
    targets: tuple[str, ...] = ("interpret", "cpu")
    printed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    switches: int = 8
    seed: int = 1


@dataclass
class Seen:
    """What happened on the way: which passes changed their input, and ops at the end of the program stage."""

    changed: list[str] = field(default_factory=list[str])
    ops: list[str] = field(default_factory=list[str])
    arithmetic: str = ""
    limbs: int = 0
    targets: list[str] = field(default_factory=list[str])
    pessimism: list[float] = field(default_factory=list[float])


@contextmanager
def _checking(check: str) -> Generator[None]:
    """Makes every error, whatever it is, a failure of this check."""
    try:
        yield
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed(check, f"{type(error).__name__}: {error}") from error


def pipeline_of(setting: Setting, folder: Path) -> list[str]:
    """The passes with their options; a device that is not built in becomes a file of the folder."""
    device = setting.device
    if not isinstance(device, str):
        path = folder / "device.json"
        path.write_text(json.dumps(dict(device)), encoding="utf-8")
        device = str(path)
    arithmetic = f' arithmetic="{setting.arithmetic}"' if setting.arithmetic else ""
    selection = " ".join(f"{name}={value}" for name, value in setting.selection.items())
    options = {
        "ckks-expand": f'bsgs="{setting.bsgs}"'
        if not setting.bsgs.isdigit()
        else f"bsgs={setting.bsgs}",
        "select-parameters": selection,
        "ckks-manage": f'start="{setting.start}"',
        "select-arithmetic": f'device="{device}"{arithmetic}',
        "tune-ntt-schedules": f'device="{device}"',
    }
    passes = [f"{name}{{{options[name]}}}" if options.get(name) else name for name in PASSES]
    if setting.rotation_keys:
        keys = ",".join(map(str, setting.rotation_keys))
        passes.insert(PASSES.index("ckks-manage"), f"compose-rotations{{keys={keys}}}")
    return passes


def check_text(
    text: str,
    setting: Setting,
    effort: Effort,
    inputs: Mapping[str, Vector] | None = None,
    expected: Sequence[Vector] | None = None,
    seen: Seen | None = None,
) -> None:
    """Compiles a program, runs every stage of it and compares.

    Args:
        inputs: by name; random ones within the stated ranges if there are none.
        expected: what the results should be; those of the program as it is written if there are none.
        seen: is filled in.

    Raises:
        CheckFailed: the first thing that is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="fhelium-fuzz-") as folder, collect_remarks():
        passes = pipeline_of(setting, Path(folder))
        _Check(text, passes, effort, inputs, expected, seen or Seen()).run()


@dataclass
class _Check:
    """One program on its way through the compiler."""

    text: str
    passes: list[str]
    effort: Effort
    inputs: Mapping[str, Vector] | None
    expected: Sequence[Vector] | None
    seen: Seen
    text_now: str = ""

    def run(self) -> None:
        with _checking("parse"):
            module = parse_module(universe.make_context(), self.text, "program.mlir")
            verify_module(module)
        _round_trip(module, "as written")
        self.text_now = mlir_text(module)
        split = self.passes.index(FIRST_POLYNOMIAL_PASS)
        for spec in self.passes[:split]:
            changed = self._apply(spec, module)
            name = spec.partition("{")[0]
            if (changed or name == "unroll-loops") and ckks.PARAMS in module.attributes:
                self._check_cleartext(module, f"cleartext after {name}")
            if name == "ckks-manage":
                _check_management(module, spec)
        runner = _Runner(module.clone(), self.effort, self.inputs)
        self.seen.ops += [op.name for op in module.walk() if op.name.startswith("ckks.")]
        self.seen.limbs = len(runner.parameters.q)
        with _checking("decryption"):
            self._check_decryption(runner)
        switches = sum(isinstance(op, SWITCHES) for op in module.walk())
        targets = self.effort.targets if switches <= self.effort.switches else ()
        for spec in self.passes[split:]:
            name = spec.partition("{")[0]
            if name == FIRST_KERNEL_PASS and not targets:
                break
            changed = self._apply(spec, module)
            if name == FIRST_POLYNOMIAL_PASS:
                runner.declare_keys(module)
            kernels = self.passes.index(spec) >= self._first_kernel_pass
            if not kernels and changed and name not in self.effort.skipped:
                with _checking(f"polynomial after {name}"):
                    runner.compare(runner.polynomial(module))
            elif kernels:
                target = "zq" if name == FIRST_KERNEL_PASS else "interpret"
                if target in targets:
                    self._run_target(runner, module, target)
        for target in targets:
            if target not in ("zq", "interpret"):
                self._run_target(runner, module, target)
        arithmetic = module.attributes.get("rns.arithmetic")
        self.seen.arithmetic = str(arithmetic).partition("<")[2].rstrip(">")

    @property
    def _first_kernel_pass(self) -> int:
        return self.passes.index(FIRST_KERNEL_PASS)

    def _run_target(self, runner: _Runner, module: ModuleOp, target: str) -> None:
        with _checking(f"target {target}"):
            name = "interpret" if target == "zq" else target
            runner.compare(runner.executable(module, name))
        self.seen.targets.append(target)

    def _apply(self, spec: str, module: ModuleOp) -> bool:
        """Runs a pass and looks at what it leaves; returns whether it changed anything."""
        name = spec.partition("{")[0]
        index = self.passes.index(spec)
        kernels = index >= self._first_kernel_pass
        with _checking(f"pass {name}"):
            Pipeline(name, (spec,)).run(universe.make_context(), module)
        before = self.text_now
        if not kernels:
            self.text_now = mlir_text(module)
        changed = kernels or self.text_now != before
        if changed:
            self.seen.changed.append(name)
        program_stage = index < self.passes.index(FIRST_POLYNOMIAL_PASS)
        if changed and (program_stage or name in self.effort.printed):
            _round_trip(module, f"after {name}")
        return changed

    def _check_cleartext(self, module: ModuleOp, check: str) -> None:
        with _checking(check):
            function = entry_function(module, "f")
            if self.inputs is None:
                self.inputs = random_inputs(function, ckks.parameters_of(module).slots)
            found = run_cleartext(module, "f", self.inputs)
            if self.expected is None:
                self.expected = found
            _compare_vectors(found, self.expected, check)

    def _check_decryption(self, runner: _Runner) -> None:
        assert self.expected is not None
        outputs = runner.program(runner.encrypted())
        decrypted = runner.decrypted(outputs)
        estimates = output_precision(runner.function, runner.parameters)
        largest = max((float(np.abs(v).max(initial=1.0)) for v in self.expected), default=1.0)
        for index, (found, want, estimate) in enumerate(
            zip(decrypted, self.expected, estimates, strict=True)
        ):
            error = float(np.abs(found - want).max())
            bound = estimate.error * 2**OPTIMISM_BITS + FLOAT_ERROR * largest
            if not error <= bound:
                raise CheckFailed(
                    "decryption",
                    f"result {index} is off by {error:.3g}, the precision report says {estimate.error:.3g}",
                )
            if error > 0 and estimate.error > 0:
                self.seen.pessimism.append(float(np.log2(estimate.error / error)))


def _round_trip(module: ModuleOp, where: str) -> None:
    with _checking(f"text {where}"):
        text = mlir_text(module)
        if len(text) > PRINTED_LIMIT:
            return
        again = parse_module(universe.make_context(), text, "printed.mlir")
        verify_module(again)
        if mlir_text(again) != text:
            raise CheckFailed(
                f"text {where}", "printed and parsed again, the module is another one"
            )


def _check_management(module: ModuleOp, spec: str) -> None:
    """ckks-manage leaves what it has done as it is."""
    with _checking("management is idempotent"):
        before = mlir_text(module)
        again = module.clone()
        functions = [op for op in again.ops if isinstance(op, func.FuncOp)]
        # a function that needed nothing still says nothing of how it is managed
        if not any(map(is_unmanaged, functions)):
            Pipeline("again", (spec,)).run(universe.make_context(), again)
        if mlir_text(again) != before:
            raise CheckFailed("management is idempotent", "ckks-manage changes its own output")


def _compare_vectors(found: Sequence[Vector], expected: Sequence[Vector], check: str) -> None:
    if len(found) != len(expected):
        raise CheckFailed(check, f"{len(found)} results instead of {len(expected)}")
    for index, (have, want) in enumerate(zip(found, expected, strict=True)):
        largest = float(np.abs(want).max(initial=1.0))
        error = float(np.abs(have - want).max())
        if not error <= 1e-9 * largest:
            raise CheckFailed(check, f"result {index} is off by {error:.3g}")


def argument_name(function: func.FuncOp, index: int) -> str:
    """What an argument is called by whoever runs the program."""
    name = argument_attribute(function, index, "ckks.name")
    if isinstance(name, StringAttr):
        return name.data
    return function.args[index].name_hint or f"arg{index}"


def random_inputs(function: func.FuncOp, slots: int) -> dict[str, Vector]:
    """Real vectors within the ranges that the arguments state."""
    random = np.random.default_rng(1)
    found: dict[str, Vector] = {}
    for index in range(len(function.args)):
        bound = argument_range(function, index)
        count = argument_attribute(function, index, "ckks.slots")
        length = count.value.data if isinstance(count, IntegerAttr) else slots
        values = random.uniform(-bound, bound, length).astype(np.complex128)
        found[argument_name(function, index)] = values
    return found


class _Runner:
    """Runs the stages of one program under one client's keys."""

    def __init__(
        self, module: ModuleOp, effort: Effort, inputs: Mapping[str, Vector] | None
    ) -> None:
        self.module = module
        self.function = entry_function(module, "f")
        self.parameters = ckks.parameters_of(module)
        self.client = Client(self.parameters, effort.seed)
        self.kind = effort.inputs
        self.vectors = inputs or {}
        self.keys: dict[KeyName, Residues] = {}
        self.reference: list[Residues] | None = None
        self.given: dict[str, Residues] = {}

    def encoded(
        self, values: NDArray[np.float64], scale: Fraction, level: int, extended: bool = False
    ) -> Residues:
        encoded = ClientKeys(self.client).plaintext(list(values), scale, level, extended)
        return encoded.numpy().astype(np.int64)

    def key(self, name: KeyName) -> Residues:
        if name not in self.keys:
            kind, galois = name
            made = self.client.key("relinearize" if kind == "relinearize" else "galois", galois)
            self.keys[name] = made.data.numpy().astype(np.int64)
        return self.keys[name]

    def needed_keys(self) -> None:
        """Makes the keys of the program stage."""
        slots = self.parameters.slots
        for op in self.module.walk():
            match op:
                case ckks.RelinearizeOp():
                    self.key(("relinearize", None))
                case ckks.RotateOp() if op.step % slots:
                    self.key(("galois", self.parameters.galois(op.step)))
                case ckks.ConjugateOp():
                    self.key(("galois", self.parameters.conjugation))
                case _:
                    pass

    def declare_keys(self, module: ModuleOp) -> None:
        """The keys that the lowered program reads must be those of the program stage."""
        found: set[KeyName] = set()
        for op in module.ops:
            if isinstance(op, resource.DeclareOp) and op.kind.data in resource.PUBLIC_KINDS:
                galois = op.parameters.data.get("galois")
                name: KeyName = ("relinearize", None)
                if isinstance(galois, IntegerAttr):
                    name = ("galois", galois.value.data)
                found.add(name)
        if found != set(self.keys):
            raise CheckFailed("keys", f"the lowered program declares {sorted(map(str, found))}")

    def program(self, inputs: Mapping[str, Residues]) -> list[Residues]:
        self.needed_keys()
        return run_program(self.module, "f", inputs, self.keys, self.encoded)

    def polynomial(self, module: ModuleOp) -> list[Residues]:
        return run_polynomial(module, "f", self.stage_inputs(), self.keys, self.encoded)

    def executable(self, module: ModuleOp, target: str) -> list[Residues]:
        linked = link(module, ClientKeys(self.client), target, "f")
        inputs = self.stage_inputs()
        tensors = [
            torch.as_tensor(inputs[spec.name]).to(
                torch.int32 if spec.dtype == "int32" else torch.int64
            )
            for spec in linked.arguments
        ]
        return [output.numpy().astype(np.int64) for output in linked.run(*tensors)]

    def compare(self, found: Sequence[Residues]) -> None:
        """Residues are those of the program stage, bit for bit."""
        if self.reference is None:
            self.reference = self.program(self.stage_inputs())
        if len(found) != len(self.reference):
            raise FheliumError(f"{len(found)} results instead of {len(self.reference)}")
        for index, (have, want) in enumerate(zip(found, self.reference, strict=True)):
            if have.shape != want.shape:
                raise FheliumError(f"result {index} has shape {have.shape}, not {want.shape}")
            wrong = int((have != want).sum())
            if wrong:
                raise FheliumError(f"result {index} has {wrong} wrong words of {want.size}")

    def stage_inputs(self) -> dict[str, Residues]:
        if not self.given:
            self.given = self.encrypted() if self.kind == "encrypted" else self.residues()
        return self.given

    def encrypted(self) -> dict[str, Residues]:
        found: dict[str, Residues] = {}
        for index, argument in enumerate(self.function.args):
            name, type_ = argument_name(self.function, index), argument.type
            assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
            assert type_.data.level is not None and type_.data.scale is not None
            scale = type_.data.scale.value(self.parameters.q)
            filled = replicate(self.vectors[name], self.parameters.slots)
            if isinstance(type_, ckks.PlaintextType):
                tensor = self.client.encode_plaintext(filled, scale, type_.data.level)
            else:
                tensor = self.client.encrypt_vector(filled, scale, type_.data.level)
            found[name] = tensor.numpy().astype(np.int64)
        return found

    def residues(self) -> dict[str, Residues]:
        """Arguments that encrypt nothing: random residues, or all of them q - 1."""
        random = np.random.default_rng(1)
        found: dict[str, Residues] = {}
        for index, argument in enumerate(self.function.args):
            type_ = argument.type
            assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
            size = type_.data.size if isinstance(type_, ckks.CiphertextType) else 1
            assert size is not None and type_.data.level is not None
            shape = (size, self.parameters.ring_degree)
            rows = [
                np.full(shape, q - 1) if self.kind == "largest" else random.integers(0, q, shape)
                for q in self.parameters.q[: type_.data.level + 1]
            ]
            found[argument_name(self.function, index)] = np.stack(rows, axis=1).astype(np.int64)
        return found

    def decrypted(self, outputs: Sequence[Residues]) -> list[Vector]:
        found: list[Vector] = []
        for output, type_ in zip(outputs, self.function.function_type.outputs, strict=True):
            assert isinstance(type_, ckks.CiphertextType) and type_.data.scale is not None
            words = torch.as_tensor(output)
            found.append(
                self.client.decrypt_vector(words, type_.data.scale.value(self.parameters.q))
            )
        return found
