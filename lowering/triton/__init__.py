"""Triton: printing kernels, and executing regions and single operations by them.

The names below are loaded when they are first used: printing kernels must not wait for torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fhelium_ir.lowering.triton.expression import BoundGraph, ExpressionGraph, ValueExpr
    from fhelium_ir.lowering.triton.fusion import PreparedFusion, TritonFusionImplementation
    from fhelium_ir.lowering.triton.pointwise import (
        PointwisePlan,
        compile_source,
        execution_parameters,
    )
    from fhelium_ir.lowering.triton.rns import ARITHMETIC_OPS, TritonRnsImplementation

__all__ = [
    "ARITHMETIC_OPS",
    "BoundGraph",
    "ExpressionGraph",
    "PointwisePlan",
    "PreparedFusion",
    "TritonFusionImplementation",
    "TritonRnsImplementation",
    "ValueExpr",
    "compile_source",
    "execution_parameters",
]

_MODULES = {
    "ARITHMETIC_OPS": "rns",
    "BoundGraph": "expression",
    "ExpressionGraph": "expression",
    "PointwisePlan": "pointwise",
    "PreparedFusion": "fusion",
    "TritonFusionImplementation": "fusion",
    "TritonRnsImplementation": "rns",
    "ValueExpr": "expression",
    "compile_source": "pointwise",
    "execution_parameters": "pointwise",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
