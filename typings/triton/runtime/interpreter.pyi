from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

class InterpretedFunction:
    fn: Callable[..., None]
    kwargs: Mapping[str, Sequence[str] | None]
    arg_names: list[str]
    def __init__(self, fn: Callable[..., None]) -> None: ...
    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., object]: ...

@dataclass(frozen=True)
class InterpreterOptions:
    sanitize_overflow: bool

class InterpreterBuilder:
    options: InterpreterOptions

interpreter_builder: InterpreterBuilder
