from dataclasses import replace

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters, log2_text

# 1 modulo 32: usable with N = 16
SMALL = Parameters(16, (97, 193, 257), (353, 449), 3, 7, insecure=True)


def test_derived_facts() -> None:
    assert (SMALL.top_level, SMALL.slots, SMALL.digit_size, SMALL.digit_count()) == (2, 8, 1, 3)
    assert SMALL.primes == (97, 193, 257, 353, 449)
    assert SMALL.default_scale == 128
    assert [SMALL.modulus(level) for level in range(3)] == [97, 97 * 193, 97 * 193 * 257]


def test_digits_of_unequal_length() -> None:
    # ceil(5/4) = 2 limbs each: three digits suffice, the last has one limb
    five = replace(SMALL, q=(97, 193, 257, 577, 641), digits=4)
    assert (five.digit_size, five.digit_count()) == (2, 3)
    assert [five.digit_count(limbs) for limbs in range(1, 6)] == [1, 1, 2, 2, 3]
    assert [list(five.digit(j)) for j in range(3)] == [[0, 1], [2, 3], [4]]
    assert [five.digit_product(j) for j in range(3)] == [97 * 193, 257 * 577, 641]


def test_galois_elements() -> None:
    eight = replace(SMALL, ring_degree=8)
    assert [eight.galois(k) for k in (0, 1, 2, 3, 4, 5)] == [1, 5, 9, 13, 1, 5]
    assert eight.galois(-1) == 13
    assert eight.galois(-4) == 1
    assert eight.conjugation == 15


def test_word_size_depends_on_every_prime() -> None:
    assert SMALL.word_bits == 32
    assert replace(SMALL, p=((1 << 30) + 3,)).word_bits == 64
    assert replace(SMALL, q=((1 << 30) + 3,)).word_bits == 64
    assert replace(SMALL, q=((1 << 30) - 35,)).word_bits == 32


def test_the_hash_follows_what_keys_depend_on() -> None:
    variants = [
        SMALL,
        replace(SMALL, ring_degree=8),
        replace(SMALL, q=(97, 257, 193)),
        replace(SMALL, q=(97, 193), p=(257, 353, 449)),
        replace(SMALL, p=(353,)),
        replace(SMALL, digits=2),
        replace(SMALL, secret="other"),
    ]
    hashes = {p.hash() for p in variants}
    assert len(hashes) == len(variants)
    assert all(len(h) == 64 for h in hashes)
    assert SMALL.hash() == replace(SMALL, insecure=False, scale_bits=8).hash()


def test_valid_parameters() -> None:
    SMALL.validate()
    replace(SMALL, digits=1, p=(353, 449, 577, 641)).validate()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(SMALL, q=(97, 161, 257)), "modulus 161 in q is not prime"),
        (replace(SMALL, p=(353, 481)), "modulus 481 in p is not prime"),
        (replace(SMALL, q=(97, 193, 97)), "modulus 97 is repeated in q"),
        (replace(SMALL, p=(353, 353)), "modulus 353 is repeated in p"),
        (replace(SMALL, q=(97, 113, 257)), "modulus 113 in q is not 1 modulo 32"),
        (replace(SMALL, p=(353, 193)), "modulus 193 stands in both q and p"),
        (
            replace(SMALL, p=(4611686018427388097,)),
            r"modulus 4611686018427388097 in p is not between 3 and 2\^62",
        ),
        (replace(SMALL, q=(97, 1, 257)), "modulus 1 in q is not between 3"),
        # 193 < 257: even less than one bit short is too small
        (
            replace(SMALL, p=(193,), q=(97, 257), digits=2),
            r"special primes \(7\.6 bits\) are smaller than the digit that starts at q1 "
            r"\(8\.1 bits\)",
        ),
        # log2(353 * 449) = 17.274, log2(97 * 193 * 257) = 22.199
        (
            replace(SMALL, digits=1),
            r"special primes \(17\.3 bits\) are smaller than the digit that starts at q0 "
            r"\(22\.2 bits\)",
        ),
        (replace(SMALL, p=()), "at least one prime in q and one in p"),
        (replace(SMALL, q=()), "at least one prime in q and one in p"),
        (replace(SMALL, ring_degree=24), "ring degree 24 is not a power of two"),
        (replace(SMALL, ring_degree=4), "ring degree 4 is not a power of two from 8 to 131072"),
        (replace(SMALL, ring_degree=1 << 18), "ring degree 262144 is not a power of two from 8"),
        (replace(SMALL, ring_degree=0), "ring degree 0"),
        (replace(SMALL, digits=0), "digits = 0 is not between 1 and 3 primes"),
        (replace(SMALL, digits=4), "digits = 4 is not between 1 and 3 primes"),
        (replace(SMALL, scale_bits=0), r"default scale 2\*\*0 is out of range"),
        (replace(SMALL, secret="gaussian"), "unknown secret distribution 'gaussian'"),
    ],
)
def test_validation_names_what_is_wrong(broken: Parameters, message: str) -> None:
    with pytest.raises(FheliumError, match=message):
        broken.validate()


def test_special_primes_above_the_largest_digit_are_enough() -> None:
    # the other way round is refused
    Parameters(16, (97,), (193,), 1, 7, insecure=True).validate()
    with pytest.raises(FheliumError, match="smaller than the digit that starts at q0"):
        Parameters(16, (193,), (97,), 1, 7, insecure=True).validate()


@pytest.mark.parametrize(
    ("degree", "limit"),
    [
        (1024, 26),
        (2048, 53),
        (4096, 106),
        (8192, 214),
        (16384, 430),
        (32768, 868),
        (65536, 1747),
        (131072, 3523),
    ],
)
def test_security_limit_is_exact(degree: int, limit: int) -> None:
    # the check does not look at primality: the boundary can be met exactly
    exact = Parameters(degree, (1 << limit,), (1,), 1, 10)
    exact.check_security()
    over = replace(exact, q=((1 << limit) + 1,))
    message = (
        rf"log2\(P\*Q\) = {limit}\.01 is above {limit}, the 128-bit limit of ring degree {degree}; "
        "use fewer or smaller primes"
    )
    with pytest.raises(FheliumError, match=message):
        over.check_security()
    replace(over, insecure=True).check_security()


@pytest.mark.parametrize("degree", [8, 512, 1 << 18])
def test_ring_degrees_outside_the_table(degree: int) -> None:
    small = Parameters(degree, (97,), (193,), 1, 5)
    with pytest.raises(FheliumError, match=f"limit is known for ring degree {degree}; use 1024"):
        small.check_security()
    replace(small, insecure=True).check_security()


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (1, 1, "0.0"),
        (3, 3, "1.585"),  # 1.58496
        (5, 2, "2.33"),  # 2.3219
        (5, 3, "2.322"),
        (1 << 214, 2, "214.00"),
        ((1 << 214) + 1, 2, "214.01"),
        ((1 << 214) - 1, 2, "214.00"),
        ((1 << 3523) + 1, 3, "3523.001"),
    ],
)
def test_logarithms_are_rounded_up(value: int, decimals: int, text: str) -> None:
    assert log2_text(value, decimals) == text
