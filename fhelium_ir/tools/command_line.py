"""What the command-line tools share: an argument parser with one-line errors, and the exit code."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import NoReturn

from fhelium_ir.compiler.diagnostics import format_error
from fhelium_ir.compiler.errors import FheliumError, unknown_name

RECURSION_LIMIT = 5000
"""Python frames; parsing takes about ten for each nested region. Deeper nesting is an error."""


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser whose errors are FheliumErrors, with a hint for a misspelt option."""

    def error(self, message: str) -> NoReturn:
        raise FheliumError(f"{message} (see {self.prog} --help)")

    def optional_actions(self) -> list[argparse.Action]:
        """The options, in the order of the help, each once."""
        return [action for action in self._actions if action.option_strings]

    def parse(self, argv: list[str], options: argparse.Namespace) -> None:
        """Set the fields of `options`; raises FheliumError for anything that is not understood."""
        _, rest = self.parse_known_args(argv, options)
        for argument in rest:
            if argument.startswith("-") and argument != "-":
                raise unknown_name("option", argument.split("=")[0], self._option_string_actions)
            raise FheliumError(f"unexpected argument '{argument}' (see {self.prog} --help)")


def report(error: BaseException, sources: Mapping[str, str], *, debug: bool) -> None:
    """Print one error on standard error, after its traceback if `debug` is set."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    print(format_error(error, sources), file=sys.stderr)


def _warning_line(message: Warning | str, *place: object) -> str:
    """What a warning of a library looks like: the line of code that gave it is nothing to the user."""
    return f"warning: {message}\n"


def run_tool(body: Callable[[], int], *, debug: bool) -> int:
    """Run a tool and return its exit code: 1 after one clear error, whatever went wrong."""
    collecting, recursion_limit = gc.isenabled(), sys.getrecursionlimit()
    # A tool is one short run that builds a large graph of live objects: collecting costs time
    # and frees nothing.
    gc.disable()
    sys.setrecursionlimit(max(recursion_limit, RECURSION_LIMIT))
    format_warning, warnings.formatwarning = warnings.formatwarning, _warning_line
    try:
        return body()
    except BrokenPipeError:
        # The reader of standard output went away, as in `fhelium-opt ... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except SystemExit as error:
        # argparse ends the process after --help.
        return error.code if isinstance(error.code, int) else 0
    except Exception as error:
        report(error, {}, debug=debug)
        return 1
    finally:
        sys.setrecursionlimit(recursion_limit)
        warnings.formatwarning = format_warning
        if collecting:
            gc.enable()
