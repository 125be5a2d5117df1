"""From printed text to a Triton function."""

from __future__ import annotations

import hashlib
import linecache
import re

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton import multiply_add
from fhelium_ir.lowering.triton.binding import TritonFunction, as_interpreted, as_jit

_FUNCTION = re.compile(r"^def (\w+)", re.MULTILINE)

# One function per text, so that equal kernels share their compiled binaries.
_COMPILED: dict[tuple[str, bool], TritonFunction] = {}


def compile_source(source: str, interpret: bool = False) -> TritonFunction:
    """The kernel that a printed module defines, as its last function.

    Its source stays inspectable: tracebacks, `inspect` and Triton itself find it.

    Args:
        source: text from `kernel_source`.
        interpret: run under Triton's interpreter instead of compiling for a GPU. The environment
            (TRITON_INTERPRET) is neither read nor changed.

    Raises:
        FheliumError: the text is no Python module with a function.
    """
    found = _COMPILED.get((source, interpret))
    if found is not None:
        return found
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    filename = f"<fhelium-ir triton kernel {digest}>"
    try:
        # The text has no future statements, and this module's would turn its annotations to strings.
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise FheliumError(f"the kernel source is not Python: {error.msg}") from error
    names = _FUNCTION.findall(source)
    if not names:
        raise FheliumError("the kernel source defines no function")
    # No modification time: checkcache keeps the entry.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, object] = {"__name__": f"fhelium_ir.generated.{digest}"}
    exec(code, namespace)
    _choose_multiply_add(namespace, interpret)
    function = namespace[names[-1]]
    if not isinstance(function, TritonFunction):
        raise FheliumError(f"'{names[-1]}' is not a Triton kernel")
    compiled = as_interpreted(function) if interpret else as_jit(function)
    _COMPILED[source, interpret] = compiled
    return compiled


def _choose_multiply_add(namespace: dict[str, object], interpret: bool) -> None:
    """The `fma` for who runs the kernel; the text itself goes by the environment."""
    name, fused, exact = multiply_add.NAMES
    function = namespace.get(fused)
    if isinstance(function, TritonFunction):
        namespace[name] = namespace[exact] if interpret else as_jit(function)
