"""Where implementations come from: the project's own, installed packages, files that a user names.

A package announces `register(registry)` functions in the entry-point group `fhelium_ir.implementations`; a file defines
one of that name.
"""

from __future__ import annotations

import importlib.metadata
import runpy
from collections.abc import Callable
from functools import cache
from typing import cast

from fhelium_ir import universe
from fhelium_ir.backend.registry import (
    OperationImplementation,
    OperationImplementationRegistry,
)
from fhelium_ir.compiler.errors import FheliumError

Register = Callable[[OperationImplementationRegistry], None]

ENTRY_POINTS = "fhelium_ir.implementations"
FUNCTION = "register"


def builtin_registry() -> OperationImplementationRegistry:
    """A new registry with the project's own implementations."""
    return OperationImplementationRegistry(
        cast("OperationImplementation", universe.load_implementation(name)())
        for name in universe.IMPLEMENTATIONS
    )


@cache
def default_registry() -> OperationImplementationRegistry:
    """The project's own implementations and those of installed packages, loaded once.

    Raises:
        FheliumError: names the entry point that fails.
    """
    registry = builtin_registry()
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            register = cast("Register", entry.load())
        except Exception as error:
            raise FheliumError(
                f"entry point '{entry.name}' of {ENTRY_POINTS} cannot be loaded: {error}"
            ) from error
        _call(register, registry, f"entry point '{entry.name}' of {ENTRY_POINTS}")
    return registry


def register_file(path: str, registry: OperationImplementationRegistry) -> None:
    """Runs a Python file and its function `register` on a registry.

    Raises:
        FheliumError: the file cannot be read, fails, or has no such function.
    """
    try:
        names = cast("dict[str, object]", runpy.run_path(path))
    except OSError as error:
        raise FheliumError(f"cannot read '{path}': {error.strerror or error}") from error
    except FheliumError:
        raise
    except Exception as error:
        raise FheliumError(f"'{path}' fails: {type(error).__name__}: {error}") from error
    register = names.get(FUNCTION)
    if not callable(register):
        raise FheliumError(f"'{path}' defines no function `{FUNCTION}(registry)`")
    _call(cast("Register", register), registry, f"'{path}'")


def _call(register: Register, registry: OperationImplementationRegistry, source: str) -> None:
    try:
        register(registry)
    except FheliumError as error:
        raise FheliumError(f"{source}: {error.message}") from error
    except Exception as error:
        raise FheliumError(f"{source} fails: {type(error).__name__}: {error}") from error


def registry_with(files: list[str], *, defaults: bool = True) -> OperationImplementationRegistry:
    """The default registry, or an empty one, extended by files."""
    registry = default_registry().copy() if defaults else OperationImplementationRegistry()
    for path in files:
        register_file(path, registry)
    return registry
