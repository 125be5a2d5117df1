"""Randomness for keys and encryption: one ChaCha20 keystream per purpose, rejection sampling.

A root seed of 32 bytes from the operating system gives each purpose a key of its own through
HKDF-SHA256; each stream only moves forward, so no part of a keystream is used twice. No
constant-time claim is made for the samplers.
"""

import hashlib
import os
import secrets

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fhelium_ir.client.modular import IntArray
from fhelium_ir.compiler.errors import FheliumError

# Centred binomial error: the difference of two sums of 21 fair bits, |e| <= 21.
ERROR_PAIRS = 21
# Its standard deviation sqrt(21/2) = 3.2404 is above the 3.19 that the security table assumes.
ERROR_SIGMA = (ERROR_PAIRS / 2) ** 0.5

# The block counter of ChaCha20 (RFC 8439) has 32 bits: a nonce serves for 2^32 blocks of 64 bytes.
_NONCE_BYTES = 1 << 38


class Stream:
    """One ChaCha20 keystream, consumed in order; not to be shared with a forked process."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._segment = -1
        self._left = 0
        self._process = os.getpid()
        self._cipher: CipherContext | None = None

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes of the keystream."""
        if os.getpid() != self._process:
            # parent and child would draw the same bytes
            raise FheliumError("a random stream was used in a forked process: make a new client")
        if self._cipher is None or self._left < count:
            self._segment += 1
            # 4 bytes of block counter, then the nonce
            nonce = bytes(4) + self._segment.to_bytes(12, "little")
            self._cipher = Cipher(algorithms.ChaCha20(self._key, nonce), mode=None).encryptor()
            self._left = _NONCE_BYTES
        self._left -= count
        return self._cipher.update(bytes(count))

    def uniform(self, q: int, count: int) -> IntArray:
        """Uniform residues [count] in [0, q): words of the bit length of q, rejected if >= q."""
        bits = (q - 1).bit_length()
        word = np.dtype(np.uint32) if bits <= 32 else np.dtype(np.uint64)
        mask = word.type((1 << bits) - 1)
        parts: list[IntArray] = []
        missing = count
        while missing > 0:
            draws = int(missing * ((1 << bits) / q) * 1.01) + 16
            words = np.frombuffer(self.bytes(draws * word.itemsize), dtype=word) & mask
            kept = words[words < q][:missing].astype(np.int64)
            parts.append(kept)
            missing -= kept.size
        return np.concatenate(parts)

    def ternary(self, count: int) -> IntArray:
        """Uniform values [count] in {-1, 0, 1}: pairs of bits, the fourth pattern rejected."""
        parts: list[IntArray] = []
        missing = count
        while missing > 0:
            octets = np.frombuffer(self.bytes(missing * 3 // 8 + 16), dtype=np.uint8)
            pairs = (octets[:, None] >> np.array([0, 2, 4, 6], dtype=np.uint8)) & np.uint8(3)
            kept = pairs[pairs < 3][:missing].astype(np.int64) - 1
            parts.append(kept)
            missing -= kept.size
        return np.concatenate(parts)

    def integers(self, bits: int, count: int) -> list[int]:
        """Uniform integers [count] in [0, 2^bits), of any size."""
        size = -(-bits // 8)
        octets = self.bytes(size * count)
        mask = (1 << bits) - 1
        return [
            int.from_bytes(octets[start : start + size], "little") & mask
            for start in range(0, size * count, size)
        ]

    def error(self, count: int) -> IntArray:
        """Centred binomial errors [count], sigma = `ERROR_SIGMA`."""
        words = np.frombuffer(self.bytes(8 * count), dtype=np.uint64)
        mask = np.uint64((1 << ERROR_PAIRS) - 1)
        plus = np.bitwise_count(words & mask).astype(np.int64)
        minus = np.bitwise_count((words >> np.uint64(ERROR_PAIRS)) & mask).astype(np.int64)
        return plus - minus


class Randomness:
    """Streams by purpose under one root seed.

    Args:
        seed: None for 32 bytes from the operating system. An integer makes every result
            reproducible, for tests: whatever is derived from it is insecure.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.insecure = seed is not None
        self._root = (
            secrets.token_bytes(32)
            if seed is None
            else hashlib.sha256(f"insecure test seed {seed}".encode()).digest()
        )
        self._streams: dict[str, Stream] = {}

    def stream(self, purpose: str) -> Stream:
        """The stream of one purpose; the same object, further along, at each call."""
        if purpose not in self._streams:
            info = b"fhelium-ir " + purpose.encode()
            key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self._root)
            self._streams[purpose] = Stream(key)
        return self._streams[purpose]
