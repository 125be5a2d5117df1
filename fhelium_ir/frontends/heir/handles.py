"""What stands for ciphertexts, plaintexts and storage while HEIR functions run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation, SSAValue

from fhelium_ir.frontends.heir.machine import Array


@dataclass(frozen=True)
class Ciphertext:
    """A ciphertext of the program that is written."""

    value: SSAValue


@dataclass(frozen=True, eq=False)
class Plaintext:
    """An encoded vector.

    Attributes:
        number: encodings are counted as the entry function runs.
        values: float64 [n], n a power of two; None if they derive from a public argument.
        scale_bits: log2 of the scale that HEIR encodes at.
        op: where it was encoded.
    """

    number: int
    values: Array | None
    scale_bits: int
    op: Operation


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix by its diagonals: row r, float64 [n], holds diagonal `diagonals[r]`."""

    rows: Array
    diagonals: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Encrypted:
    """What a ciphertext holds, on the client's side: float64 [n]."""

    values: Array


@dataclass(frozen=True)
class Key:
    """Stands for any key."""


@dataclass(eq=False)
class Storage:
    """Preprocessed plaintexts by site and indices."""

    entries: dict[tuple[int, ...], Any] = field(default_factory=dict[tuple[int, ...], Any])
