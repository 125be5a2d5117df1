import os

import numpy as np
import pytest
from numpy.typing import NDArray

from fhelium_ir.client.randomness import ERROR_SIGMA, Randomness, Stream
from fhelium_ir.compiler.errors import FheliumError


def _stream() -> Stream:
    return Randomness(2024).stream("test")


def _chi_square(counts: NDArray[np.int64], expected: float) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


def test_the_keystream_is_chacha20() -> None:
    # RFC 8439 A.1, test vector 1: zero key, zero nonce, counter 0
    assert Stream(bytes(32)).bytes(16).hex() == "76b8e0ada0f13d90405d6ae55386bd28"


def test_a_keystream_is_never_repeated() -> None:
    stream, again = _stream(), _stream()
    pieces = stream.bytes(40) + stream.bytes(7) + stream.bytes(81)
    assert pieces == again.bytes(128)
    blocks = {pieces[i : i + 16] for i in range(0, 128, 16)}
    assert len(blocks) == 8


def test_a_stream_goes_on_under_the_next_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fhelium_ir.client.randomness._NONCE_BYTES", 64)
    stream = Stream(bytes(32))
    first, second, third = stream.bytes(40), stream.bytes(40), stream.bytes(64)
    assert first.hex().startswith("76b8e0ada0f13d90")
    # the draw that does not fit starts over with another nonce: nothing is drawn twice
    assert len({first[:16], second[:16], third[:16]}) == 3


def test_streams_of_one_root_differ_and_continue() -> None:
    randomness = Randomness(1)
    first = randomness.stream("secret").bytes(32)
    assert randomness.stream("secret").bytes(32) != first
    assert randomness.stream("error").bytes(32) != first
    assert Randomness(1).stream("secret").bytes(32) == first
    assert Randomness(2).stream("secret").bytes(32) != first


def test_without_a_seed_roots_differ() -> None:
    one, two = Randomness(), Randomness()
    assert one.stream("secret").bytes(32) != two.stream("secret").bytes(32)
    assert not one.insecure
    assert Randomness(0).insecure


def test_a_forked_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream()
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    with pytest.raises(FheliumError, match="forked"):
        stream.bytes(1)


@pytest.mark.parametrize("q", [3, 97, 12289, 4293918721, 1152921504607338497, (1 << 62) - 57])
def test_uniform_is_uniform(q: int) -> None:
    # taking words of the bit length modulo q would fill some buckets twice as often for 12289
    count, buckets = 1 << 16, min(q, 64)
    values = _stream().uniform(q, count)
    assert values.size == count
    assert values.min() >= 0 and values.max() < q
    positions = (values.astype(np.float64) * buckets / q).astype(np.int64)
    expected = count / buckets if q > 64 * 64 or q == buckets else None
    if expected is None:
        exact = np.bincount(np.arange(q) * buckets // q) * count / q
        statistic = float(((np.bincount(positions) - exact) ** 2 / exact).sum())
    else:
        statistic = _chi_square(np.bincount(positions, minlength=buckets), expected)
    # 63 degrees of freedom: 103.4 has probability 0.001; 2 degrees: 13.8
    assert statistic < (103.4 if buckets == 64 else 13.8)
    if q > 1 << 40:
        low = np.bincount(values & 63, minlength=64)
        assert _chi_square(low, count / 64) < 103.4


def test_uniform_reaches_both_ends() -> None:
    assert set(_stream().uniform(5, 1000).tolist()) == {0, 1, 2, 3, 4}
    assert set(_stream().uniform(4, 1000).tolist()) == {0, 1, 2, 3}


def test_ternary_is_balanced() -> None:
    count = 3 << 14
    values = _stream().ternary(count)
    counts = np.array([(values == v).sum() for v in (-1, 0, 1)])
    assert counts.sum() == count == values.size
    assert _chi_square(counts, count / 3) < 13.8


def test_errors_are_centred_binomial() -> None:
    count = 1 << 18
    values = _stream().error(count)
    assert ERROR_SIGMA > 3.19 and abs(ERROR_SIGMA**2 - 10.5) < 1e-12
    assert abs(values.std() / 10.5**0.5 - 1) < 0.01
    assert abs(values.mean()) < 4 * 10.5**0.5 / count**0.5
    assert np.abs(values).max() <= 21
    # P(0) = binomial(42, 21) / 2^42
    assert abs((values == 0).mean() - 538257874440 / 2**42) < 0.004
    # successive errors are uncorrelated
    assert abs((values[1:] * values[:-1]).mean()) < 4 * 10.5 / count**0.5
