"""Pipelines: passes in order, as text, with verification after each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.utils.arg_spec import ArgSpec, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException
from xdsl.utils.hints import type_repr

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import fill_missing
from fhelium_ir.compiler.verification import verify_module

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass


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
            elif spec.name in universe.PASSES:
                passes.append(str(spec))
            else:
                known = [*universe.PASSES, *universe.PIPELINES]
                raise unknown_name("pass or pipeline", spec.name, known)
        return Pipeline(name, tuple(passes))

    def until(self, pass_name: str) -> Pipeline:
        """The pipeline up to and including the first pass of that name."""
        names = [parse_spec(spec).name for spec in self.passes]
        if pass_name not in names:
            if pass_name in universe.PASSES:
                raise FheliumError(f"pass '{pass_name}' is not in the pipeline")
            raise unknown_name("pass", pass_name, names or universe.PASSES)
        return Pipeline(self.name, self.passes[: names.index(pass_name) + 1])

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
    ) -> None:
        """Run the passes on the module, in place.

        Args:
            verify_each: verify the module after each pass, otherwise only at the end.
            after_pass: called with each pass and the module that it left, after verification.

        Raises:
            FheliumError: if a pass fails or leaves invalid IR; the message names the pass.
        """
        passes = self.instantiate()
        for number, module_pass in enumerate(passes, start=1):
            _apply(module_pass, ctx, module)
            fill_missing(module)
            if verify_each or number == len(passes):
                verify_module(module, after=module_pass.name)
            if after_pass is not None:
                after_pass(module_pass, module)


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
        detail = f"{type(error).__name__}: {error}"
        raise FheliumError(f"pass '{module_pass.name}' failed: internal error: {detail}") from error


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
            kind += f" = {field.default}"
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
