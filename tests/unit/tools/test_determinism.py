"""The same input gives the same bytes, whatever the process and its hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.lit_files import ROOT

SCRIPT = """
import sys
from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.remarks import collect_remarks
from fhelium_ir.tools.html_page import write_page
from fhelium_ir.tools.inspection import SnapshotTaker

context = universe.make_context()
module = parse_module(context, open(sys.argv[1]).read(), sys.argv[1])
taker = SnapshotTaker()
with collect_remarks() as remarks:
    Pipeline.named(universe.DEFAULT_PIPELINE).run(context, module, observers=[taker])
write_page("page", taker.snapshots, remarks, sys.stdout)
for target in ("mlir", "triton", "host", "resources-json"):
    print(f"== {target}")
    universe.load_target(target)(module, sys.stdout)
"""
"""Prints every stage, the region graph, the remarks, and the sources for each target."""


def output(seed: str) -> str:
    """Standard output of a new process."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "PYTHONHASHSEED": seed,
    }
    command = [sys.executable, "-c", SCRIPT, "examples/matvec.mlir"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, env=environment, check=True, text=True
    )
    return done.stdout


def test_output_does_not_depend_on_process_and_hash_seed() -> None:
    one, two = output("1"), output("4242")
    assert "== triton" in one and "@triton.jit" in one and "<svg" in one
    different = [(a, b) for a, b in zip(one.splitlines(), two.splitlines(), strict=True) if a != b]
    assert different == []
