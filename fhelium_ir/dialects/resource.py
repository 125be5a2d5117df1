"""`resource`: what a program needs besides its arguments: keys, plaintexts and tables, declared by symbol.

The materializer computes a declared resource from its kind, its parameters and the module's parameters alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DictionaryAttr,
    Float64Type,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from fhelium_ir.dialects.rns import PolyType
from fhelium_ir.dialects.zq import WordType

KINDS: Mapping[str, tuple[str, ...]] = {
    "relinearization_key": ("exponent",),
    "galois_key": ("galois", "exponent"),
    "plaintext": ("values", "level", "scale", "special", "exponent"),
    "moduli": ("arithmetic",),
    "twiddles": ("direction", "groups", "table_stages", "arithmetic"),
    "inverse_degree": ("exponent", "arithmetic"),
    "shoup_twiddles": ("direction", "groups", "stages", "arithmetic"),
    "shoup_inverse_degree": ("exponent", "arithmetic"),
    "constants": ("constant", "type", "exponent", "arithmetic"),
    "conversion": ("source", "target", "correction", "exponent", "arithmetic"),
    "permutation": ("galois", "domain"),
    "rows": ("values",),
    "named": ("name",),
}
"""The kinds of resource and the parameters that define one of each.

- relinearization_key, galois_key: key-switching key [digits, 2, primes, N] with Montgomery exponent `exponent`.
- plaintext: encoded vector `values` (repeated over the slots) at `level` and `scale`, [1, limbs, N]. With `special`,
  the number of primes p, it has limbs modulo these too, behind those of q: residues of its integers centred modulo Q_l.
- moduli: per prime q, q^-1 mod R, R mod q, R^2 mod q; [primes, 4].
- twiddles: powers of the 2N-th root per prime, exponent 1, `direction` forward or inverse; [primes, N]. Stage s has
  entries 2^s to 2^(s+1) - 1, one for each block, in order. `groups`, if it is there, lists how many stages a group has;
  with s0 stages before its group, the blocks of a stage are ordered by their lower s - s0 bits first. Groups that start
  at stage `table_stages` or later follow the others, with no more than the first factor of their last stage for each
  block before them: [primes, entries].
- inverse_degree: per prime N^-1, and N^-1 times the twiddle of stage 0, at `exponent`; [primes, 2].
- shoup_twiddles, shoup_inverse_degree: the same factors w as plain residues, the twiddles of the first `stages` stages
  only, each with its quotient floor(w 2^word / q). A 32-bit quotient is the upper half of a 64-bit entry and its factor
  the lower one, [primes, entries]; 64-bit quotients stand behind the factors of their prime, [primes, 2, entries].
- constants: an `#rns.constant` for each row of the bundle `type`, at `exponent`; [rows].
- conversion: coefficients of a base conversion from bundle type `source` to `target`, whose result has Montgomery
  exponent `exponent`. By target row: first -D, then by source limb D/d_i, both at `exponent` + 1, and what the
  correction needs of d_i: (d_i - 1)/2 and 0 for a centred lift, m_i and s_i for nearest (docs/numerics.md). Rows of
  shorter digits are padded with terms that add nothing; [rows, limbs + 1, 3]. For words with a sign coefficients are
  centred: with `nearest` integers of 64 bits, and d_i as a fourth entry; with `none` and `given` words and nothing
  else; with `rounded`, for one source limb of doubles, d_1 and the lowest residue that is not moved up by it.
- permutation: source index of each element under X -> X^galois; in the coefficient domain index + N where the sign
  flips; [N].
- rows: row numbers that tell the programs of a launch where to read and write; [programs, columns].
- named: a tensor that whoever links the program gives by name.

In programs on words with a sign (`fp64`, `smont32`) all residues are centred.

In a mixed module the tables of a group of primes have `arithmetic`, its name. Those by prime have the group's primes
only. A conversion then has six integers per source limb, [rows, limbs + 1, 6]: D/d_i; for `fp64`, where both are
centred, 2^32 D/d_i; (d_i - 1)/2 or m_i; s_i; d_i; for `nearest` the smallest v_i that one limb alone rounds up. Keys
and plaintexts are integers at `exponent` in the rows of `mont64`, and in those of `fp64` the bits of centred doubles.
"""

ARITHMETIC_KINDS = tuple(kind for kind, parameters in KINDS.items() if "arithmetic" in parameters)
"""Kinds whose tables differ between the groups of primes of a mixed module."""

PUBLIC_KINDS = ("relinearization_key", "galois_key")
"""Kinds that come from the client."""


OPTIONAL = frozenset(("exponent", "special", "groups", "table_stages", "arithmetic"))
"""Parameters that a declaration may lack."""


@irdl_op_definition
class DeclareOp(IRDLOperation):
    """Declares a resource; its shape and element type are absent until infer-resources.

    Assembly: `resource.declare @name "kind" {parameters} : memref<...>`.
    """

    name = "resource.declare"
    sym_name = prop_def(SymbolNameConstraint())
    kind = prop_def(StringAttr)
    parameters = prop_def(DictionaryAttr)
    buffer = opt_prop_def(MemRefType)
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        kind: str,
        parameters: Mapping[str, Attribute],
        buffer: MemRefType | None = None,
    ):
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "kind": StringAttr(kind),
            "parameters": DictionaryAttr(dict(parameters)),
        }
        if buffer is not None:
            properties["buffer"] = buffer
        super().__init__(properties=properties)

    def verify_(self) -> None:
        kind = self.kind.data
        if kind not in KINDS:
            raise VerifyException(
                f"resource.declare: unknown kind '{kind}', expected one of {', '.join(KINDS)}"
            )
        allowed = set(KINDS[kind])
        given = set(self.parameters.data)
        missing = allowed - given - OPTIONAL
        if missing or given - allowed:
            wrong = sorted(missing) or sorted(given - allowed)
            word = "lacks" if missing else "does not take"
            raise VerifyException(f"resource.declare: kind '{kind}' {word} {', '.join(wrong)}")

    @classmethod
    def parse(cls, parser: Parser) -> DeclareOp:
        name = parser.parse_symbol_name().data
        kind = parser.parse_str_literal()
        parameters = parser.parse_optional_dictionary_attr_dict()
        buffer = None
        if parser.parse_optional_punctuation(":") is not None:
            position = parser.pos
            parsed = parser.parse_type()
            if not isa(parsed, MemRefType):
                parser.raise_error("expected a memref", position, parser.pos)
            buffer = parsed
        return cls(name, kind, parameters, buffer)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_string_literal(self.kind.data)
        if self.parameters.data:
            printer.print_string(" ")
            printer.print_attr_dict(self.parameters.data)
        if self.buffer is not None:
            printer.print_string(" : ")
            printer.print_attribute(self.buffer)

    def shape(self) -> tuple[int, ...]:
        """Shape of the declared buffer; the shape must be inferred already."""
        assert self.buffer is not None
        return tuple(self.buffer.get_shape())

    def word_bits(self) -> int:
        """Width in bits of the declared buffer's elements."""
        assert self.buffer is not None
        return word_memref(self.buffer).element_type.bitwidth

    def is_floating(self) -> bool:
        """Whether the elements are doubles: residues then are centred, not in [0, q)."""
        assert self.buffer is not None
        return isinstance(word_memref(self.buffer).element_type, Float64Type)


@irdl_op_definition
class RefOp(IRDLOperation):
    """The bundle that a declared key or plaintext holds."""

    name = "resource.ref"
    symbol = prop_def(SymbolRefAttr)
    result = result_def(PolyType)
    traits = traits_def(Pure())
    assembly_format = "$symbol attr-dict `:` type($result)"

    def __init__(self, symbol: str, type_: PolyType):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)}, result_types=[type_])


def memref(shape: Sequence[int], bits: int, floating: bool = False) -> MemRefType:
    """A memref of signless integers, or of doubles."""
    return MemRefType(Float64Type() if floating else IntegerType(bits), list(shape))


def word_memref(type_: Attribute) -> MemRefType[WordType]:
    """`type_` as what every buffer is: a memref of words."""
    assert isa(type_, MemRefType[WordType])
    return type_


def dtype_name(type_: Attribute) -> str:
    """The dtype of the tensor that a memref stands for: `int64`, `float64`, ..."""
    element = word_memref(type_).element_type
    return f"{'float' if isinstance(element, Float64Type) else 'int'}{element.bitwidth}"


Resource = Dialect("resource", [DeclareOp, RefOp], [])
