"""Kernels as Triton: the printer, compilation of printed text, and a launcher."""
