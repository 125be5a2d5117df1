"""Plants a fault in code that is loaded: functions get the code that they would have after an edit of the source."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import cast


@dataclass(frozen=True)
class Fault:
    """An edit of one module.

    Attributes:
        name: what is wrong afterwards.
        module: the module's long name.
        old, new: the text that is replaced; `old` stands there exactly once.
        target: what has to run for it to show; empty for what the stages before kernels show.
    """

    name: str
    module: str
    old: str
    new: str
    target: str = "interpret"


def edited(fault: Fault) -> str:
    """The source of the module after the edit.

    Raises:
        ValueError: the text to replace does not stand there exactly once.
    """
    module = importlib.import_module(fault.module)
    source = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    if source.count(fault.old) != 1:
        raise ValueError(
            f"{fault.name}: {fault.old!r} occurs {source.count(fault.old)} times in {fault.module}"
        )
    return source.replace(fault.old, fault.new)


@contextmanager
def planted(fault: Fault) -> Generator[None]:
    """Runs with the fault.

    Functions keep their identity and get other code, so that it does not matter who has imported them; names of the
    module whose values are plain data get the edited values.
    """
    live = importlib.import_module(fault.module)
    copy = ModuleType(fault.module)
    copy.__dict__.update({"__file__": live.__file__, "__package__": live.__package__})
    exec(compile(edited(fault), str(live.__file__), "exec"), copy.__dict__)
    codes = list(_changed(live.__dict__, copy.__dict__))
    data = {
        name: live.__dict__[name]
        for name, value in copy.__dict__.items()
        if _is_data(value) and live.__dict__.get(name, value) != value
    }
    if not codes and not data:
        raise ValueError(f"{fault.name}: the edit changes no function and no data")
    before = [(function, function.__code__) for function, _ in codes]
    tables = {name: _copied(value) for name, value in data.items()}
    try:
        for function, code in codes:
            function.__code__ = code
        for name in data:
            _set(live, name, copy.__dict__[name])
        yield
    finally:
        for function, code in before:
            function.__code__ = code
        for name in data:
            _set(live, name, tables[name])


def _copied(value: object) -> object:
    return dict(cast("dict[object, object]", value)) if isinstance(value, dict) else value


def _set(module: ModuleType, name: str, value: object) -> None:
    """Sets a name; a table keeps its identity, as others may have imported it."""
    if isinstance(value, dict):
        table = cast("dict[object, object]", getattr(module, name))
        entries = dict(cast("dict[object, object]", value))
        table.clear()
        table.update(entries)
    else:
        setattr(module, name, value)


def _is_data(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_data, cast("tuple[object, ...]", value)))
    if isinstance(value, dict):
        return all(map(_is_data, cast("dict[object, object]", value).values()))
    return isinstance(value, int | float | str)


def _changed(
    live: dict[str, object], copy: dict[str, object]
) -> Generator[tuple[FunctionType, CodeType]]:
    """Functions, methods and the functions inside of them whose code differs, with the other code."""
    for name, value in copy.items():
        old = live.get(name)
        if (
            isinstance(value, type)
            and isinstance(old, type)
            and value.__module__ == live["__name__"]
        ):
            yield from _changed({**vars(old), "__name__": live["__name__"]}, dict(vars(value)))
            continue
        left, right = _function(old), _function(value)
        if left is not None and right is not None and _differ(left.__code__, right.__code__):
            yield left, right.__code__


def _function(value: object) -> FunctionType | None:
    """The function behind a method, a property, a cached function or a dispatcher."""
    for attribute in ("__func__", "fget", "func", "__wrapped__"):
        inner = getattr(value, attribute, None)
        if isinstance(inner, FunctionType):
            return inner
    return value if isinstance(value, FunctionType) else None


def _differ(left: CodeType, right: CodeType) -> bool:
    """Whether two functions do different things, wherever their lines stand."""
    if (left.co_code, left.co_names) != (right.co_code, right.co_names):
        return True
    if len(left.co_consts) != len(right.co_consts):
        return True
    for a, b in zip(left.co_consts, right.co_consts, strict=True):
        if isinstance(a, CodeType) and isinstance(b, CodeType):
            if _differ(a, b):
                return True
        elif a != b:
            return True
    return False
