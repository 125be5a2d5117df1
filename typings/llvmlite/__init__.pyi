"""The part of llvmlite that fhelium_ir.lowering.cpu uses."""

__version__: str
