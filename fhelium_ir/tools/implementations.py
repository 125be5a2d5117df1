"""The options that say which implementations a tool's passes and linking ask."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class ImplementationOptions(argparse.Namespace):
    """The options of `add_implementation_options`; each field is the option of the same name."""

    load_implementation: list[str] = field(default_factory=list[str])
    no_default_implementations: bool = False


def add_implementation_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a tool's parser."""
    parser.add_argument(
        "--load-implementation",
        metavar="FILE.py",
        action="append",
        default=[],
        help="run the file's `register(registry)`: its implementations take part",
    )
    parser.add_argument(
        "--no-default-implementations",
        action="store_true",
        help="use the implementations of --load-implementation only",
    )


@contextmanager
def implementations(files: list[str], no_defaults: bool) -> Generator[None]:
    """Passes and linking ask the chosen implementations while the `with` block runs.

    Raises:
        FheliumError: a file cannot be read or fails.
    """
    if not files and not no_defaults:
        yield
        return
    from fhelium_ir.backend.discovery import registry_with
    from fhelium_ir.backend.registry import use_registry

    with use_registry(registry_with(files, defaults=not no_defaults)):
        yield
