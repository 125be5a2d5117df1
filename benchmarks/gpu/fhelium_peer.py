"""Times FHElium, where it is installed: `python fhelium_peer.py` prints JSON, in a process of its own.

It is not a package that this project installs. The set is the one of its presets with N = 2^16, 28 primes of q and 4 of
p, as in the stored times; each time is the median of runs from Python that end with a synchronisation.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

LOG_DEGREE, Q_PRIMES, P_PRIMES = 16, 28, 4
WARM_UPS, RUNS = 5, 30
TIMEOUT = 600
"""Seconds for keys and all runs."""


class Unavailable(Exception):
    """FHElium cannot be timed here."""


def installed(python: str | None) -> str | None:
    """The interpreter that has FHElium: the stated one, or this one; None without either."""
    if python is not None:
        return python
    return sys.executable if find_spec("fhelium") is not None else None


def live_times(python: str) -> dict[str, Any]:
    """`version`, `parameters`, `times` and `rows`, microseconds by row, from a process of that interpreter.

    Raises:
        Unavailable: says why there are none.
    """
    command = [python, str(Path(__file__).resolve())]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"it took more than {TIMEOUT} s") from error
    except OSError as error:
        raise Unavailable(f"{python}: {error.strerror or error}") from error
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        said = (done.stderr.strip() or "it printed nothing").splitlines()[-1]
        raise Unavailable(said[:200])
    try:
        return cast("dict[str, Any]", json.loads(lines[-1]))
    except ValueError as error:
        raise Unavailable(f"it printed {lines[-1][:80]!r}") from error


def median_time(action: Callable[[], object], synchronize: Callable[[], None]) -> float:
    """Microseconds of a run."""
    found: list[float] = []
    for _ in range(WARM_UPS + RUNS):
        synchronize()
        start = time.perf_counter()
        action()
        synchronize()
        found.append((time.perf_counter() - start) * 1e6)
    return round(statistics.median(found[WARM_UPS:]), 1)


def configuration(config: Any) -> Any:
    """The preset of the set.

    Args:
        config: the module `fhelium.config`.

    Raises:
        Unavailable: there is none.
    """
    for preset in config.Preset:
        found = config.CkksConfig.parse(preset)
        if (found.logN, found.num_q_primes, found.num_p_primes) == (LOG_DEGREE, Q_PRIMES, P_PRIMES):
            return found
    raise Unavailable(
        f"no preset has N = 2^{LOG_DEGREE}, {Q_PRIMES} primes of q and {P_PRIMES} of p"
    )


def main() -> int:
    """Times the operations and prints them; the exit code is 1 if there is no set of this kind."""
    try:
        print(json.dumps(report()))
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def report() -> dict[str, object]:
    """What `live_times` returns; on a machine without a card the processor's times."""
    torch: Any = import_module("torch")
    config: Any = import_module("fhelium.config")
    eager: Any = import_module("fhelium.eager")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_device(device)
    engine = eager.Engine(configuration(config))
    message = torch.linspace(-0.5, 0.5, engine.num_slots, dtype=torch.float64).to(torch.complex128)
    x = engine.encrypt_message(message, depth=0)
    operand = engine.coefficient_domain_to_ntt_domain(x)
    product = engine.relinearize(engine.multiply(operand, operand))
    key = engine.rotation_key(1)

    def multiply() -> object:
        squared = engine.relinearize(engine.multiply(operand, operand))
        return engine.rescale_to_next_depth(squared)

    actions: dict[str, Callable[[], object]] = {
        "multiply-1390": multiply,
        "rotate-1390": lambda: engine.rotate_with_key(x, key),
        "rescale-1390": lambda: engine.rescale_to_next_depth(product),
    }
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    rows = {row: median_time(action, synchronize) for row, action in actions.items()}
    return {
        "version": version("fhelium"),
        "parameters": f"N = 2^16, {Q_PRIMES} primes of q and {P_PRIMES} of p",
        "times": f"host time included, measured on {device} in this run",
        "rows": rows,
    }


if __name__ == "__main__":
    sys.exit(main())
