"""The scale of each level: S_top = the default scale, S_{l-1} = S_l^2 / q_l.

A product of two values of scale S_l at level l has scale S_{l-1} after the rescale by q_l, exactly; primes that follow
the scale keep all S_l near the default (Kim, Papadimitriou, Polyakov, "Approximate homomorphic encryption with reduced
approximation error", 2022).
"""

from __future__ import annotations

from functools import lru_cache

from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale


@lru_cache(maxsize=4096)
def level_scale(parameters: Parameters, level: int) -> Scale:
    """S_level, for 0 <= level <= top."""
    if level >= parameters.top_level:
        return Scale(parameters.scale_bits)
    above = level_scale(parameters, level + 1)
    return (above * above).over_prime(level + 1)
