"""fhelium-ir: a compiler for CKKS homomorphic-encryption programs.

A program enters as MLIR text, is lowered step by step through the dialects in
`fhelium_ir.dialects`, and leaves as Triton kernels and a host executable. This module imports
nothing, so that the tools start quickly.
"""

__version__ = "0.1.0"
