"""`select-arithmetic`: how the module's kernels multiply modulo the primes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.prime_groups import group_primes
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects.ckks_params import parameters_of
from fhelium_ir.dialects.rns import ARITHMETIC, ArithmeticAttr
from fhelium_ir.dialects.zq import (
    ARITHMETICS,
    FLOATING,
    MIXED,
    MIXED_GROUPS,
    MODULE_ARITHMETICS,
    Arithmetic,
)
from fhelium_ir.parameters import Parameters

PASS = "select-arithmetic"
WIDE = MIXED_GROUPS[0].name


@dataclass(frozen=True)
class SelectArithmetic(ModulePass):
    """Sets the module attribute `rns.arithmetic`: the first arithmetic of the device that admits
    every prime of q and p.

    Where that is `mont64` only because some primes are too wide for `fp64`, which the device prefers,
    `mixed64` gives each prime the one that it fits, if a cost model expects a fifth of the time to be
    saved: kernels of each group are launched apart, and few limbs do not keep a card busy.

    An arithmetic that the module already states, or the option `arithmetic`, is taken if it admits
    every prime. Values do not change.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file.
        arithmetic: the name of the arithmetic to take, whatever the device prefers; `mixed64` for `fp64` where a prime
            fits it and `mont64` elsewhere.
    """

    name = PASS
    device: str = "gpu"
    arithmetic: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        device = load_device(self.device)
        if self.arithmetic and self.arithmetic not in MODULE_ARITHMETICS:
            raise unknown_name("arithmetic", self.arithmetic, MODULE_ARITHMETICS, f"pass '{PASS}'")
        parameters = parameters_of(op)
        location = location_of(op)
        forced = self._forced(op)
        if forced is not None:
            misfit = first_misfit(MODULE_ARITHMETICS[forced], parameters)
            if misfit is not None:
                raise FheliumError(f"{PASS}: {misfit}", location)
            op.attributes[ARITHMETIC] = ArithmeticAttr(forced)
            remark(PASS, op, "applied", f"{forced}, as stated")
            return
        misfits: list[str] = []
        for name in device.arithmetics:
            misfit = first_misfit(ARITHMETICS[name], parameters)
            if misfit is None:
                mix = _mix(op, name, parameters, device)
                chosen, text = (name, name) if mix is None else (MIXED, mix.text())
                op.attributes[ARITHMETIC] = ArithmeticAttr(chosen)
                remark(PASS, op, "applied", f"{text} for device '{device.name}'")
                return
            misfits.append(misfit)
            remark(PASS, op, "missed", misfit)
        reasons = "; ".join(misfits)
        raise FheliumError(
            f"{PASS}: no arithmetic of device '{device.name}' fits: {reasons}", location
        )

    def _forced(self, module: ModuleOp) -> str | None:
        """The arithmetic that the option or the module states."""
        attribute = module.attributes.get(ARITHMETIC)
        if attribute is None:
            return self.arithmetic or None
        if not isinstance(attribute, ArithmeticAttr):
            raise FheliumError(
                f"{PASS}: `{ARITHMETIC}` must be an #rns.arithmetic", location_of(module)
            )
        if self.arithmetic not in ("", attribute.data):
            raise FheliumError(
                f"{PASS}: the module states {attribute.data}, the option {self.arithmetic}",
                location_of(module),
            )
        return attribute.data


LEAST_SAVED = 0.2
"""Share of the time that a mix has to save: it doubles the kernels, and with them compilation."""

COMPONENTS = 2
"""Residue polynomials of a kernel for each limb, in the cost model: those of a ciphertext."""


@dataclass(frozen=True)
class Mix:
    """What a kernel for all limbs is expected to take in `mixed64`, and in `mont64`, in moved words.

    Attributes:
        wide, narrow: limbs of `mont64` and of `fp64`.
    """

    wide: int
    narrow: int
    mixed: float
    alone: float

    @property
    def pays(self) -> bool:
        return self.mixed <= (1 - LEAST_SAVED) * self.alone

    def text(self) -> str:
        return (
            f"{MIXED}, {FLOATING} for {self.narrow} primes and {WIDE} for {self.wide}, cost "
            f"{self.mixed:.0f} instead of {self.alone:.0f}"
        )


def mix_costs(parameters: Parameters, device: Device) -> Mix:
    """The costs of two groups of primes, and of one."""
    wide, narrow = (len(group_primes(parameters, name)) for name in (WIDE, FLOATING))
    degree = parameters.ring_degree
    busy = device.busy_lanes << device.register_stages

    def kernel(limbs: int, factor: float) -> float:
        # A kernel that does not fill a card takes as long as one that does.
        words = max(COMPONENTS * limbs * degree, busy)
        return 2 * device.memory_cost * words * factor + device.launch_cost

    mixed = kernel(wide, device.wide_factor) + kernel(narrow, 1.0)
    return Mix(wide, narrow, mixed, kernel(wide + narrow, device.wide_factor))


def _mix(op: ModuleOp, name: str, parameters: Parameters, device: Device) -> Mix | None:
    """The mix that is better than the arithmetic `name`, if there is one."""
    before = device.arithmetics[: device.arithmetics.index(name)]
    if name != WIDE or FLOATING not in before:
        return None
    mix = mix_costs(parameters, device)
    if not mix.narrow:
        return None
    if not mix.pays:
        remark(PASS, op, "missed", f"not {mix.text()}: it has to save a fifth")
        return None
    return mix


def first_misfit(arithmetic: Arithmetic, parameters: Parameters) -> str | None:
    """Why an arithmetic does not do for the parameters: the first prime that it does not admit;
    None if it does.
    """
    for family, primes in (("q", parameters.q), ("p", parameters.p)):
        for index, prime in enumerate(primes):
            if not arithmetic.admits(prime):
                return (
                    f"{arithmetic.name} admits primes below 2^{arithmetic.prime_bits}, "
                    f"{family}{index} = {prime} does not fit"
                )
    return None
