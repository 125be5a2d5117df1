"""`select-arithmetic`: how the module's kernels multiply modulo the primes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import load_device
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects.ckks_params import parameters_of
from fhelium_ir.dialects.rns import ARITHMETIC, ArithmeticAttr
from fhelium_ir.dialects.zq import ARITHMETICS, MODULE_ARITHMETICS, Arithmetic
from fhelium_ir.parameters import Parameters

PASS = "select-arithmetic"


@dataclass(frozen=True)
class SelectArithmetic(ModulePass):
    """Sets the module attribute `rns.arithmetic`: the first arithmetic of the device that admits
    every prime of q and p.

    An arithmetic that the module already states, or the option `arithmetic`, is taken if it admits
    every prime. Values do not change.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file.
        arithmetic: the name of the arithmetic to take, whatever the device prefers.
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
                op.attributes[ARITHMETIC] = ArithmeticAttr(name)
                remark(PASS, op, "applied", f"{name} for device '{device.name}'")
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
