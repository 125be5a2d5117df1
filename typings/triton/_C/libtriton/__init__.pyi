from collections.abc import Callable

class _GpuPasses:
    add_coalesce: Callable[[object], None]

class _Passes:
    ttgpuir: _GpuPasses

passes: _Passes
