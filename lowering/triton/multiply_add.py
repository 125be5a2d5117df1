"""The text of `fma`, the fused multiply-add that printed kernels call."""

from __future__ import annotations

NAMES = ("fma", "fused_fma", "exact_fma")
"""Names that the text defines. `fma` is one of the two functions, by who runs the kernels."""

TEXT = '''

@triton.jit
def fused_fma(x, y, z):
    return tl.fma(x, y, z)


def exact_fma(x, y, z):
    """For Triton's interpreter, whose tl.fma rounds twice: Boldo and Melquiond, "Emulation of a FMA" (2008)."""
    import numpy as np

    def sum_and_error(p, r):
        total = p + r
        part = total - p
        return total, (p - (total - part)) + (r - part)

    def halves(p):
        high = 134217729.0 * p
        high = high - (high - p)
        return high, p - high

    result = tl.fma(x, y, z)
    with np.errstate(all="ignore"):
        a, b, c = (value.handle.data for value in (x, y, z))
        (a1, a0), (b1, b0), product = halves(a), halves(b), a * b
        error = a0 * b0 - (((product - a1 * b1) - a0 * b1) - a1 * b0)
        upper, tail = sum_and_error(c, error)
        upper, middle = sum_and_error(product, upper)
        # The sum of the low parts is rounded to odd, so that the last sum rounds as if it were exact.
        total, rest = sum_and_error(tail, middle)
        bits = total.view(np.int64)
        odd = bits + np.where((rest > 0) == (total > 0), 1, -1)
        low = np.where((rest != 0) & (bits & 1 == 0), odd, bits).view(np.float64)
        exact = np.where((a == 0) | (b == 0), product + c, upper + low)
    result.handle.data = np.broadcast_to(exact, result.handle.data.shape).copy()
    return result


fma = fused_fma if isinstance(fused_fma, triton.JITFunction) else exact_fma
'''
