"""Passes, dialects and targets from outside: Python files and installed packages.

Files are named on the command line (`--load-pass`, `--load-dialect`). Installed packages announce
what they provide through entry points:

    [project.entry-points."fhelium_ir.passes"]
    count-multiplications = "my_package.count:CountMultiplications"

and likewise `fhelium_ir.dialects` and `fhelium_ir.targets`. Entry points of xDSL's own group
`xdsl.universe` work too. Packages are looked for only when a name is not built in, or when all
names are listed, and imported only when something of theirs is used; so a broken package disturbs
nobody who does not use it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.universe import Kind, Provided

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.universe import Universe
    from xdsl.utils.target import Target

GROUPS: dict[str, Kind] = {
    "fhelium_ir.dialects": "dialect",
    "fhelium_ir.passes": "pass",
    "fhelium_ir.targets": "target",
}
"""Entry-point groups; each entry point is named like the thing that it leads to."""

UNIVERSE_GROUP = "xdsl.universe"
"""xDSL's entry-point group: each entry point leads to a `xdsl.universe.Universe`."""


@contextmanager
def plugins(pass_files: Sequence[str] = (), dialect_files: Sequence[str] = ()) -> Generator[None]:
    """Make the plugins known while the `with` block runs.

    Args:
        pass_files: Python files whose passes are registered, at once.
        dialect_files: Python files whose dialects are registered, at once.

    Raises:
        FheliumError: a file is broken or holds nothing of its kind, or a name is taken.
    """
    kinds: tuple[Kind, ...] = ("dialect", "pass", "target")
    tables = [(universe.table(kind), dict(universe.table(kind))) for kind in kinds]
    path, modules = list(sys.path), set(sys.modules)
    try:
        files: dict[str, ModuleType] = {}
        for file in dialect_files:
            _register_dialects(file, files)
        for file in pass_files:
            _register_passes(file, files)
        universe.add_source(register_installed)
        yield
    finally:
        universe.remove_source(register_installed)
        for table, before in tables:
            table.clear()
            table.update(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if _is_plugin_file(sys.modules[name]):
                del sys.modules[name]


_MARK = "__fhelium_plugin__"


def _is_plugin_file(module: ModuleType | None) -> bool:
    return hasattr(module, _MARK)


def _load_file(file: str, files: dict[str, ModuleType]) -> ModuleType:
    """The module of a file, executed once however often it is named."""
    path = os.path.realpath(file)
    if path in files:
        return files[path]
    if not os.path.isfile(path):
        raise FheliumError(f"plugin file '{file}': there is no such file")
    if not path.endswith(".py"):
        raise FheliumError(f"plugin file '{file}': the name of a Python file ends in .py")
    try:
        module = files[path] = _import_file(path)
    except (Exception, SystemExit) as error:
        raise FheliumError(f"plugin file '{file}' is broken: {_detail(error)}") from error
    return module


def _import_file(path: str) -> ModuleType:
    """Import a file under the name that other files would import it by, so that it exists once."""
    folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        name = f"{package}.{name}"
    if folder not in sys.path:
        sys.path.append(folder)
    parent = name.rpartition(".")[0]
    if parent:
        importlib.import_module(parent)
    known = sys.modules.get(name)
    if known is not None and os.path.realpath(known.__file__ or "") == path:
        return known
    if not parent and (known is not None or _other_file(name, path)):
        # The name is taken; hiding a module would break those who import it.
        name = f"fhelium_plugin_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("cannot be imported")
    module = importlib.util.module_from_spec(spec)
    setattr(module, _MARK, True)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _other_file(name: str, path: str) -> bool:
    """Whether another module would be imported by that name."""
    found = importlib.util.find_spec(name) if name.isidentifier() else None
    return found is not None and os.path.realpath(found.origin or "") != path


def _detail(error: BaseException) -> str:
    line = error.lineno if isinstance(error, SyntaxError) else None
    place = f" (line {line})" if line is not None else ""
    return f"{type(error).__name__}: {error}{place}"


def _register_passes(file: str, files: dict[str, ModuleType]) -> None:
    from xdsl.passes import ModulePass

    module = _load_file(file, files)
    found: list[type[ModulePass]] = []
    for value in list(vars(module).values()):
        # Classes that the file only imports are not its own; abstract ones are for subclasses.
        if not isinstance(value, type) or not issubclass(value, ModulePass):
            continue
        if value.__module__ == module.__name__ and not inspect.isabstract(value):
            found.append(value)
    if not found:
        raise FheliumError(f"plugin file '{file}' defines no pass (no subclass of ModulePass)")
    for pass_type in dict.fromkeys(found):
        name = cast(object, getattr(pass_type, "name", None))
        if not isinstance(name, str) or not name:
            raise FheliumError(f"plugin file '{file}': pass {pass_type.__name__} has no name")
        universe.register("pass", name, _constant(file, pass_type.__name__, pass_type))


def _register_dialects(file: str, files: dict[str, ModuleType]) -> None:
    from xdsl.ir import Dialect

    module = _load_file(file, files)
    found = [v for v in list(vars(module).values()) if isinstance(v, Dialect)]
    own = [dialect for dialect in found if _is_own(dialect, module)]
    if not own:
        raise FheliumError(f"plugin file '{file}' defines no dialect (no Dialect object)")
    for dialect in {id(dialect): dialect for dialect in own}.values():
        universe.register("dialect", dialect.name, _constant(file, dialect.name, dialect))


def _is_own(dialect: object, module: ModuleType) -> bool:
    """Whether a dialect, found in a module, has parts that the module defines, or none at all."""
    from xdsl.ir import Dialect

    assert isinstance(dialect, Dialect)
    parts = [*dialect.operations, *dialect.attributes]
    return not parts or any(part.__module__ == module.__name__ for part in parts)


def _constant(file: str, name: str, value: object) -> Provided:
    return Provided(f"'{file}' ({name})", lambda: value)


def register_installed() -> None:
    """Register what installed packages announce; nothing of theirs is imported but universes.

    Raises:
        FheliumError: a universe is broken, or a name is taken.
    """
    from importlib.metadata import entry_points

    for group, kind in GROUPS.items():
        for point in _sorted(entry_points(group=group)):
            universe.register(kind, point.name, Provided(_origin(point), point.load))
    for point in _sorted(entry_points(group=UNIVERSE_GROUP)):
        # xDSL's own names are chosen by this project, whose own names are known.
        if point.value.split(".")[0] not in ("xdsl", "fhelium_ir"):
            _register_universe(point)


def _sorted(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    return sorted(points, key=lambda point: (point.name, point.value))


def _origin(point: EntryPoint) -> str:
    package = f"package '{point.dist.name}'" if point.dist is not None else "an installed package"
    return f"{package} (entry point '{point.name}' of {point.group}: {point.value})"


def _register_universe(point: EntryPoint) -> None:
    from xdsl.universe import Universe

    try:
        loaded = cast(object, point.load())
    except (Exception, SystemExit) as error:
        raise FheliumError(f"{_origin(point)} is broken: {_detail(error)}") from error
    if not isinstance(loaded, Universe):
        raise FheliumError(f"{_origin(point)} is broken: it is no xdsl.universe.Universe")
    _register_all(loaded, _origin(point))


def _register_all(provided: Universe, origin: str) -> None:
    tables: dict[Kind, Mapping[str, Callable[[], object]]] = {
        "dialect": provided.all_dialects,
        "pass": provided.all_passes,
        "target": {name: _printer(load) for name, load in provided.all_targets.items()},
    }
    for kind, table in tables.items():
        for name, load in table.items():
            universe.register(kind, name, Provided(origin, load))


def _printer(load: Callable[[], type[Target]]) -> Callable[[], universe.Target]:
    """xDSL's targets are classes; this project's are functions."""

    def load_printer() -> universe.Target:
        target = load()

        def emit(module: ModuleOp, stream: TextIO) -> None:
            target().emit(universe.make_context(), module, stream)

        return emit

    return load_printer
