import pytest

from fhelium_ir.primes import is_prime


def _sieve(limit: int) -> list[bool]:
    flags = [False, False] + [True] * (limit - 2)
    for i in range(2, int(limit**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = [False] * len(flags[i * i :: i])
    return flags


def test_primality_agrees_with_a_sieve() -> None:
    assert [is_prime(n) for n in range(20000)] == _sieve(20000)


@pytest.mark.parametrize(
    "n",
    [
        561,  # Carmichael
        3215031751,  # strong pseudoprime to 2, 3, 5, 7
        3825123056546413051,  # strong pseudoprime to the first nine primes
        (2**31 - 1) ** 2,
        4294967291 * 4294967279,
    ],
)
def test_known_composites(n: int) -> None:
    assert not is_prime(n)


@pytest.mark.parametrize(
    "n", [2**61 - 1, 1152921504607338497, 4293918721, 2**64 - 59, 2**31 - 1, 65537]
)
def test_known_primes(n: int) -> None:
    assert is_prime(n)


def test_primality_refuses_what_it_cannot_decide() -> None:
    with pytest.raises(ValueError, match="2\\^64"):
        is_prime(2**64 + 13)
