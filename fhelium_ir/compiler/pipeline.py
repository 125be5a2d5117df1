"""Pipelines: passes in order, as text, with verification after each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.utils.arg_spec import ArgSpec, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException
from xdsl.utils.hints import type_repr

from fhelium_ir import universe
from fhelium_ir.compiler.analyses import forget_after, keep_analyses
from fhelium_ir.compiler.collection import no_collection
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import fill_missing, location_of
from fhelium_ir.compiler.verification import Verified, verify_module

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Step:
    """One pass of a running pipeline: its number from 1, the texts of all passes, the pass."""

    number: int
    specs: tuple[str, ...]
    module_pass: ModulePass

    @property
    def name(self) -> str:
        """The pass's name."""
        return self.module_pass.name

    @property
    def rest(self) -> tuple[str, ...]:
        """The texts of this pass and of those that follow it."""
        return self.specs[self.number - 1 :]


class PassObserver:
    """Watches a pipeline run. Subclasses override what they need; none may change the module."""

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """Called before a pass; observers in their order."""

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        """Called as soon as the pass returns, before verification; observers in reverse order."""

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        """Called after the pass and its verification; observers in reverse order."""

    def pass_failed(self, step: Step, error: FheliumError) -> None:
        """Called when the pass or the verification after it fails; observers in reverse order."""


@dataclass(frozen=True)
class Pipeline:
    """Passes in order, each as text with its options: `('cse', 'plan-memory{alignment=256}')`."""

    name: str
    passes: tuple[str, ...]

    @staticmethod
    def named(name: str) -> Pipeline:
        """The registered pipeline of that name; raises FheliumError if there is none."""
        if name not in universe.PIPELINES:
            raise unknown_name("pipeline", name, universe.PIPELINES)
        return Pipeline(name, universe.PIPELINES[name])

    @staticmethod
    def parse(text: str, name: str = "command line") -> Pipeline:
        """Parse `a,b{x=1 y=2,3},c`; named pipelines stand for their passes.

        Raises:
            FheliumError: on a syntax error or an unknown name. Options are not checked here.
        """
        passes: list[str] = []
        for spec in _parse_specs(text):
            if spec.name in universe.PIPELINES:
                if spec.parameters:
                    raise FheliumError(f"pipeline '{spec.name}' takes no options")
                passes.extend(universe.PIPELINES[spec.name])
            elif universe.is_known("pass", spec.name):
                passes.append(str(spec))
            else:
                known = [*universe.PASSES, *universe.PIPELINES]
                raise unknown_name("pass or pipeline", spec.name, known)
        return Pipeline(name, tuple(passes))

    def until(self, pass_name: str) -> Pipeline:
        """The pipeline up to and including the first pass of that name."""
        return Pipeline(self.name, self.passes[: self.position(pass_name) + 1])

    def position(self, pass_name: str) -> int:
        """Where the first pass of that name stands; raises FheliumError if there is none."""
        names = [parse_spec(spec).name for spec in self.passes]
        if pass_name not in names:
            if pass_name in universe.PASSES:
                raise FheliumError(f"pass '{pass_name}' is not in the pipeline")
            raise unknown_name("pass", pass_name, names or universe.PASSES)
        return names.index(pass_name)

    def instantiate(self) -> tuple[ModulePass, ...]:
        """The passes as objects; raises FheliumError on an unknown pass or a bad option."""
        return tuple(make_pass(spec) for spec in self.passes)

    def run(
        self,
        ctx: Context,
        module: ModuleOp,
        *,
        verify_each: bool = True,
        after_pass: Callable[[ModulePass, ModuleOp], None] | None = None,
        observers: Sequence[PassObserver] = (),
    ) -> None:
        """Run the passes on the module, in place.

        Args:
            verify_each: verify the module after each pass, otherwise only at the end.
            after_pass: called with each pass and the module that it left, after verification.
            observers: called around each pass; the last one is nearest to the pass.

        Raises:
            FheliumError: if a pass fails or leaves invalid IR; the message names the pass.
        """
        verified = Verified()
        with keep_analyses(), no_collection():
            for number, module_pass in enumerate(self.instantiate(), start=1):
                step = Step(number, self.passes, module_pass)
                self._run_pass(step, ctx, module, verified if verify_each else None, observers)
                if after_pass is not None:
                    after_pass(module_pass, module)

    def _run_pass(
        self,
        step: Step,
        ctx: Context,
        module: ModuleOp,
        verified: Verified | None,
        observers: Sequence[PassObserver],
    ) -> None:
        for observer in observers:
            observer.before_pass(step, module)
        try:
            _apply(step.module_pass, ctx, module)
            forget_after(step.module_pass)
            for observer in reversed(observers):
                observer.after_apply(step, module)
            fill_missing(module)
            if verified is not None or step.number == len(self.passes):
                verify_module(module, after=step.name, verified=verified)
        except FheliumError as error:
            for observer in reversed(observers):
                observer.pass_failed(step, error)
            raise
        for observer in reversed(observers):
            observer.after_pass(step, module)


def _apply(module_pass: ModulePass, ctx: Context, module: ModuleOp) -> None:
    try:
        module_pass.apply(ctx, module)
    except FheliumError:
        raise
    except DiagnosticException as error:
        raise FheliumError(f"pass '{module_pass.name}': {error}") from error
    except RecursionError as error:
        raise FheliumError(f"pass '{module_pass.name}': the IR is nested too deeply") from error
    except Exception as error:
        if isinstance(error, ValueError) and "single-block regions" in str(error):
            # xDSL's accessors say so; most passes are about straight-line functions.
            raise _several_blocks(module_pass, module) from error
        detail = f"{type(error).__name__}: {error}"
        raise FheliumError(f"pass '{module_pass.name}' failed: internal error: {detail}") from error


def _several_blocks(module_pass: ModulePass, module: ModuleOp) -> FheliumError:
    """The error for a region that has not one block, at the first op with such a region."""
    for op in module.walk():
        if any(region.first_block is not region.last_block for region in op.regions):
            message = f"pass '{module_pass.name}' needs regions of one block, '{op.name}' has more"
            return FheliumError(message, location_of(op))
    return FheliumError(f"pass '{module_pass.name}' needs regions of one block")


def make_pass(spec: str) -> ModulePass:
    """One pass from its text, `name` or `name{option=value ...}`.

    Raises:
        FheliumError: if the text, the name, an option or the value of one is wrong.
    """
    specs = _parse_specs(spec)
    if len(specs) != 1:
        raise FheliumError(f"expected one pass, got '{spec}'")
    parsed = specs[0].normalize_parameter_names()
    pass_type = universe.load_pass(parsed.name)
    options = pass_options(pass_type)
    for given in parsed.parameters:
        name = given.replace("_", "-")
        if name not in options:
            raise unknown_name("option", name, options, f"pass '{parsed.name}'")
    try:
        return pass_type.from_spec(parsed)
    except Exception as error:
        usage = ", ".join(f"{name}: {kind}" for name, kind in options.items())
        raise FheliumError(f"pass '{parsed.name}': {error}; its options are {usage}") from error


def pass_options(pass_type: type[ModulePass]) -> dict[str, str]:
    """The options of a pass: name as written in a pipeline, and type with default as text."""
    options: dict[str, str] = {}
    for field in dataclasses.fields(pass_type):
        if not field.init or field.name == "name":
            continue
        kind = field.type if isinstance(field.type, str) else type_repr(field.type)
        if field.default is not dataclasses.MISSING:
            kind += f" = {field.default}" if field.default != "" else ' = ""'
        options[field.name.replace("_", "-")] = kind
    return options


def _parse_specs(text: str) -> tuple[ArgSpec, ...]:
    try:
        return tuple(parse_pipeline(_strip_spaces(text)))
    except (ArgSpecParseError, ValueError) as error:
        # The message is the last line of a picture of the text, below a row of carets.
        message = str(error).rstrip().split("\n")[-1].strip()
        raise FheliumError(f"cannot read the pass pipeline '{text}': {message}") from error


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\s*([{},=])\s*|\s+|[^\s{},="]+|.')


def _strip_spaces(text: str) -> str:
    """Drop spaces that mean nothing: all but single ones between the options of a pass."""
    parts: list[str] = []
    for match in _TOKEN.finditer(text.strip()):
        token = match.group()
        parts.append(match.group(1) or (" " if token.isspace() else token))
    return "".join(parts)
