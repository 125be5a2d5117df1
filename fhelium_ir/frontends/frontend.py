"""What a frontend is: options, and a reader from text to a module of the program stage."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpecConvertible, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError, unknown_name

if TYPE_CHECKING:
    # The tools start quickly: numpy is imported when a frontend needs it.
    import numpy as np
    from numpy.typing import NDArray

    from fhelium_ir.client.layout import Layout

Tensor: TypeAlias = "NDArray[Any]"


class ClientSide(Protocol):
    """How the source program's client turns tensors into vectors of slots, and results back."""

    def random_inputs(self, entry: str, seed: int | None) -> dict[str, Tensor]:
        """Random tensors for the inputs of a function, by name."""
        ...

    def read_inputs(self, entry: str, given: Mapping[str, object], where: str) -> dict[str, Tensor]:
        """Tensors from nested lists of numbers.

        Raises:
            FheliumError: names a missing, unknown or malformed input.
        """
        ...

    def pack(self, entry: str, inputs: Mapping[str, Tensor]) -> dict[str, NDArray[np.complex128]]:
        """The vector for each argument of the written function, by name."""
        ...

    def unpack(self, entry: str, results: Sequence[NDArray[np.complex128]]) -> list[Tensor]:
        """The results in the shape of the source program, from the slots of the function's results."""
        ...

    def layout(self, entry: str) -> Layout:
        """The same as plain data, for a client that does not have the source program."""
        ...


@dataclass(frozen=True)
class Imported:
    """A module of the program stage, and the client's side where the source states one."""

    module: ModuleOp
    client: ClientSide | None = None


@dataclass(frozen=True)
class Frontend(ArgSpecConvertible, ABC):
    """A frozen dataclass; its fields are its options."""

    name: ClassVar[str]

    @abstractmethod
    def read(self, text: str, file: str) -> Imported:
        """Read a program.

        Args:
            text: the source.
            file: its name, for locations and errors.

        Raises:
            FheliumError: the text is wrong or holds what is not supported, with its place.
        """


@dataclass(frozen=True)
class MlirFrontend(Frontend):
    """The dialects of this project."""

    name: ClassVar[str] = "mlir"

    def read(self, text: str, file: str) -> Imported:
        from fhelium_ir.compiler.parsing import parse_module

        return Imported(parse_module(universe.make_context(), text, file))


def make_frontend(spec: str) -> Frontend:
    """A frontend from its text, `name` or `name{option=value ...}`.

    Raises:
        FheliumError: the text, the name, an option or the value of one is wrong.
    """
    try:
        parsed = parse_spec(spec).normalize_parameter_names()
    except (ArgSpecParseError, ValueError) as error:
        message = str(error).rstrip().split("\n")[-1].strip()
        raise FheliumError(f"cannot read the frontend '{spec}': {message}") from error
    frontend = universe.load_frontend(parsed.name)
    options = [field.name.replace("_", "-") for field in dataclasses.fields(frontend)]
    for given in parsed.parameters:
        name = given.replace("_", "-")
        if name not in options:
            raise unknown_name("option", name, options, f"frontend '{parsed.name}'")
    try:
        return frontend.from_spec(parsed)
    except FheliumError:
        raise
    except Exception as error:
        raise FheliumError(f"frontend '{parsed.name}': {error}") from error
