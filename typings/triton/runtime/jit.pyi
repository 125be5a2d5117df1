from collections.abc import Callable, Sequence

class KernelParam:
    name: str
    annotation_type: str
    do_not_specialize: bool

class JITFunction:
    fn: Callable[..., None]
    src: str
    arg_names: list[str]
    params: list[KernelParam]
    __name__: str
    def __init__(
        self, fn: Callable[..., None], *, do_not_specialize: Sequence[str] | None = ...
    ) -> None: ...
    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., object]: ...
