"""Checks on a CUDA device that the transforms of every ring degree, as the default pipeline schedules them, are exact.

    python benchmarks/check_transforms.py [--arithmetics NAME ...] [--device NAME] [--table FILE.json] [--out FILE.json]

For N = 2^12 to 2^17 and each arithmetic: a forward and an inverse transform of random polynomials and of polynomials
whose coefficients are all q - 1, by the largest primes that the arithmetic admits. Every residue is compared with the
polynomial reference, which knows nothing of kernels.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from gpu.stages import RandomMaterials, Residues, lower, pass_options
from gpu_rows import module, primes_below

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.polynomial import run_polynomial

LIMBS = 2


def program(degree: int, primes: list[int]) -> tuple[Parameters, str]:
    """Forward and inverse transform of two polynomials."""
    chosen = Parameters(degree, tuple(primes[1:]), (primes[0],), LIMBS, 20, "ternary", True)
    basis = f"!rns.poly<{degree}, q 0:{LIMBS}, "
    coefficient, evaluation = f"{basis}coefficient>", f"{basis}evaluation(?)>"
    body = (
        f"func.func @row(%x : {coefficient}, %y : {evaluation}) -> ({evaluation}, {coefficient}) {{\n"
        f"  %f = ntt.forward %x : {coefficient}\n  %i = ntt.inverse %y : {evaluation}\n"
        f"  return %f, %i : {evaluation}, {coefficient}\n}}\n"
    )
    return chosen, module(chosen, body)


def check(degree: int, arithmetic: str, options: Mapping[str, str]) -> dict[str, object]:
    """Residues that differ for one ring degree and arithmetic.

    Args:
        options: of passes by name.
    """
    primes = primes_below(1 << ARITHMETICS[arithmetic].prime_bits, degree, LIMBS + 1)
    parameters, text = program(degree, primes)
    source = parse_module(universe.make_context(), text, "row.mlir")
    lowered = lower(source, arithmetic, options)
    executable = link(lowered, RandomMaterials(parameters), "cuda", "row")
    generator, different = np.random.default_rng(degree), 0
    dtype = torch.int32 if parameters.word_bits == 32 else torch.int64
    for largest in (False, True):
        rows: list[Residues] = [
            np.full((1, degree), q - 1)
            if largest
            else generator.integers(0, q, (1, degree), dtype=np.int64)
            for q in parameters.q
        ]
        given = np.stack(rows, axis=1)
        tensor = torch.as_tensor(given).to(dtype).to(executable.device)
        outputs = executable.run(tensor, tensor)
        wanted = run_polynomial(source, "row", {"x": given, "y": given}, {}, _no_plaintexts)
        for output, want in zip(outputs, wanted, strict=True):
            different += int((output.cpu().to(torch.int64).numpy() != want).sum())
    return {"degree": degree, "arithmetic": arithmetic, "different": different}


def _no_plaintexts(*arguments: object) -> Residues:
    raise AssertionError(f"no plaintext is encoded: {arguments}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Check transforms on a CUDA device.")
    parser.add_argument("--device", help="description, such as cuda for this card (default: gpu)")
    parser.add_argument("--table", help="timed schedules, from tune_transforms.py")
    parser.add_argument("--arithmetics", nargs="*", default=list(ARITHMETICS), choices=ARITHMETICS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    passes = pass_options([], options.device, options.table)
    found: list[dict[str, object]] = []
    for stages in range(12, 18):
        for arithmetic in options.arithmetics:
            found.append(check(1 << stages, arithmetic, passes))
            print(json.dumps(found[-1]), flush=True)
    if options.out is not None:
        device = torch.cuda.get_device_name()
        content = {"commit": options.commit, "device": device, "checks": found}
        options.out.write_text(json.dumps(content, indent=2) + "\n")
    return int(any(entry["different"] for entry in found))


if __name__ == "__main__":
    sys.exit(main())
