"""The context in which texts are parsed: it knows the dialects of the universe, plugins included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from fhelium_ir import universe

T = TypeVar("T")


class PluginContext(Context):
    """A context whose unknown names make it ask the plugins, which takes time, once."""

    @staticmethod
    def of_universe() -> PluginContext:
        """A context in which every registered dialect is loaded when the text first names it."""
        context = PluginContext()
        context.register_new()
        return context

    def register_new(self) -> None:
        """Register the dialects of the universe that this context does not have yet."""
        for name in [n for n in universe.DIALECTS if n not in self._registered_dialects]:
            self.register_dialect(name, _factory(name))

    def _ask(self, look_up: Callable[[], T | None], name: str) -> T | None:
        if (known := look_up()) is not None or "." not in name or not universe.discover():
            return known
        self.register_new()
        return look_up()

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        return self._ask(
            lambda: super(PluginContext, self).get_optional_op(name, dialect_stack=dialect_stack),
            name,
        )

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        return self._ask(lambda: super(PluginContext, self).get_optional_type(name), name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        return self._ask(lambda: super(PluginContext, self).get_optional_attr(name), name)

    def get_optional_dialect(self, name: str) -> Dialect | None:
        return self._ask(lambda: super(PluginContext, self).get_optional_dialect(name), f"{name}.")


def _factory(name: str) -> Callable[[], Dialect]:
    return lambda: universe.load_dialect(name)
