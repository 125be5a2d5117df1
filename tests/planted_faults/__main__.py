"""`python -m tests.planted_faults`: random programs must find every fault within three minutes of computing.

`--record` writes down which program found each, for the short run of the tests (`--known`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.table import Table

from tests.planted_faults.faults import FAULTS
from tests.planted_faults.hunt import Found, hunt, names_of, warm_up
from tests.planted_faults.planting import Fault

KNOWN = Path(__file__).with_name("known.json")
LIMIT_S = 180.0


def known_programs() -> dict[str, str]:
    """Names of programs by the fault that they found."""
    return cast("dict[str, str]", json.loads(KNOWN.read_text())) if KNOWN.exists() else {}


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns 1 if a fault was not found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for each fault")
    parser.add_argument(
        "--known", action="store_true", help="begin with the programs that found them before"
    )
    parser.add_argument(
        "--record", action="store_true", help="write down which programs found them"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--only", default="", help="faults whose names hold this text")
    arguments = parser.parse_args(argv)
    known = known_programs()
    results: list[Found] = []
    console = Console()
    warm_up()

    def names(fault: Fault) -> Iterable[str]:
        first = [known[fault.name]] if arguments.known and fault.name in known else []
        return names_of(arguments.seed, first)

    chosen = [fault for fault in FAULTS if arguments.only in fault.name]
    for found in hunt(chosen, names, arguments.limit, arguments.jobs):
        results.append(found)
        how = f"{found.check} ({found.program})" if found.check else "NOT FOUND"
        line = f"{found.fault}: {how}, {found.seconds:.1f} s, {found.programs} programs"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
        if found.program:
            known[found.fault] = found.program
    if arguments.record:
        names_now = {fault.name for fault in FAULTS}
        kept = {name: program for name, program in sorted(known.items()) if name in names_now}
        KNOWN.write_text(json.dumps(kept, indent=2) + "\n")
    missed = [found.fault for found in results if not found.check]
    table = Table("fault", "found by", "seconds", title=f"{len(results)} planted faults")
    for found in results:
        table.add_row(found.fault, found.check or "not found", f"{found.seconds:.1f}")
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
