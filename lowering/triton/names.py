"""Names in generated Python: any symbol or SSA name becomes an identifier."""

from __future__ import annotations

import hashlib
import keyword
import re

from xdsl.ir import SSAValue

from fhelium_ir.lowering.triton import multiply_add

_SAFE = re.compile(r"[A-Za-z0-9_]")
_LONGEST = 100

# Names that generated text uses itself, and names that Triton's launcher gives a meaning to.
_RESERVED = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *("tl", "triton", "range", "interpreter_semantic", *multiply_add.NAMES),
        *("grid", "warmup", "params", "specialization", "options", "backend"),
        *("specialize_impl", "JITCallable", "device", "stream", "device_type", "debug"),
        *("num_warps", "num_ctas", "num_stages", "maxnreg", "instrumentation_mode"),
    }
)


def symbol_identifier(symbol: str) -> str:
    """A Python identifier for a kernel symbol; different symbols get different identifiers.

    Plain identifiers stay. Any other character c becomes `_x<hex of c>_`, and so does the `_` of
    an `_x` in the symbol itself, which makes the map injective; very long results are cut and end
    in a hash.
    """
    plain = symbol.replace("_x", "_x5f_x")
    text = "".join(c if _SAFE.match(c) else f"_x{ord(c):x}_" for c in plain)
    if not text:
        return "_x_"
    # Double underscores would hide what Python keeps in a module, such as __builtins__.
    if text[0].isdigit() or text.startswith("__") or text in _RESERVED:
        text = f"_x{ord(text[0]):x}_{text[1:]}"
    if len(text) > _LONGEST:
        digest = hashlib.sha256(symbol.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        text = f"{text[:_LONGEST]}_xh{digest}"
    return text


class Names:
    """Distinct identifiers for the values of one kernel."""

    def __init__(self) -> None:
        self._taken: set[str] = set(_RESERVED)
        self._next: dict[str, int] = {}
        self._of: dict[SSAValue, str] = {}

    def of(self, value: SSAValue) -> str:
        """The name of a value: its SSA name where that is an identifier, made distinct."""
        name = self._of.get(value)
        if name is None:
            hint = value.name_hint or "v"
            name = self.fresh("".join(c if _SAFE.match(c) else "_" for c in hint))
            self._of[value] = name
        return name

    def share(self, value: SSAValue, name: str) -> None:
        """Gives a value the name of another."""
        self._of[value] = name

    def fresh(self, stem: str) -> str:
        """An unused identifier that starts with `stem`."""
        if not stem or stem[0].isdigit() or stem.startswith("__"):
            stem = f"v{stem}"
        stem = stem[:_LONGEST]
        name = stem
        while name in self._taken:
            number = self._next.get(stem, 1)
            self._next[stem] = number + 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name
