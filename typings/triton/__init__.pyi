from collections.abc import Mapping

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel

def compile(
    src: ASTSource,
    target: GPUTarget | None = ...,
    options: Mapping[str, int] | None = ...,
) -> CompiledKernel: ...
