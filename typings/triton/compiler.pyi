from collections.abc import Mapping, Sequence

from triton.runtime.jit import JITFunction

class CompiledKernel:
    asm: Mapping[str, str | bytes]

class ASTSource:
    def __init__(
        self,
        fn: JITFunction,
        signature: dict[str, str],
        constexprs: Mapping[str, int] | None = ...,
        attrs: Mapping[tuple[int, ...], Sequence[Sequence[str | int]]] | None = ...,
    ) -> None: ...
