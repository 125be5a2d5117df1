"""The options of `fhelium-opt` that look at a run or check it, apart from those that say what to run."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field


@dataclass(eq=False)
class InspectionOptions(argparse.Namespace):
    """Each field is the option of the same name."""

    remarks: str | None = None
    verify_diagnostics: bool = False
    print_ir_before: list[str] = field(default_factory=list[str])
    print_ir_after: list[str] = field(default_factory=list[str])
    print_ir_before_all: bool = False
    print_ir_after_all: bool = False
    print_ir_after_change: bool = False
    print_loc: bool = False
    dump_dir: str | None = None
    time_passes: bool = False
    pass_statistics: bool = False
    crash_reproducer: str | None = None
    run_reproducer: str | None = None
    reduce: str | None = None
    reduce_limit: int = 1000


def add_inspection_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options in groups, as --help shows them."""
    _add_printing(parser.add_argument_group("inspection"))
    checks = parser.add_argument_group("tests and failures")
    checks.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="errors, warnings and the remarks that --remarks selects must be exactly those that "
        "comments expect: // expected-error@+1 {{text}}",
    )
    checks.add_argument(
        "--crash-reproducer",
        metavar="FILE",
        help="when a pass fails, write the module before it and the rest of the pipeline",
    )
    checks.add_argument(
        "--run-reproducer", metavar="FILE", help="run what a reproducer holds, as it says"
    )
    checks.add_argument(
        "--reduce",
        metavar="COMMAND",
        help="print the smallest module found on which COMMAND still fails with the same error; "
        "{file} in COMMAND, or else its end, stands for the module's file",
    )
    checks.add_argument(
        "--reduce-limit",
        metavar="RUNS",
        type=int,
        default=1000,
        help="run COMMAND at most this often (default: 1000)",
    )


def _add_printing(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    add = group.add_argument
    add(
        "--remarks",
        choices=("all", "applied", "missed", "analysis"),
        help="print what the passes did (applied), refused (missed) or found (analysis) to "
        "standard error",
    )
    for when in ("before", "after"):
        add(
            f"--print-ir-{when}",
            metavar="PASS",
            action="append",
            default=[],
            help=f"print the IR {when} each run of a pass to standard error; may be repeated",
        )
        add(
            f"--print-ir-{when}-all",
            action="store_true",
            help=f"print the IR {when} every pass",
        )
    add(
        "--print-ir-after-change",
        action="store_true",
        help="print what each pass changed as a diff, coloured on a terminal",
    )
    add("--print-loc", action="store_true", help="print the location of each op as loc(...)")
    add("--dump-dir", metavar="DIR", help="write the IR after each pass to DIR/NN-PASS.mlir")
    add("--time-passes", action="store_true", help="print how long each part of the run took")
    add(
        "--pass-statistics",
        action="store_true",
        help="print the ops of each dialect before and after each pass, and its remarks",
    )
