"""The parameters attribute of the `ckks` dialect, and the text form of scales."""

from __future__ import annotations

from fractions import Fraction

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.parameters import SECRETS, Parameters
from fhelium_ir.scale import POWER_LIMIT, RATIO_BITS, Scale

PARAMS = "ckks.params"
"""Name of the module attribute that holds the parameters."""


def parameters_of(module: ModuleOp) -> Parameters:
    """The parameters in the module's attribute.

    Raises:
        FheliumError: the module has none.
    """
    attribute = module.attributes.get(PARAMS)
    if not isinstance(attribute, ParamsAttr):
        raise FheliumError(
            f"the module has no attribute `{PARAMS} = #ckks.params<...>`", location_of(module)
        )
    return attribute.data


def parse_scale(parser: AttrParser) -> Scale:
    """Parses `2**40 * q1 / q2**2`; factors are integers or primes of the chain by index."""
    scale, divides = Scale(), False
    while True:
        start = parser.pos
        base = _parse_base(parser)
        power = 1
        multiplies = parser.parse_optional_punctuation("*") is not None
        if multiplies and parser.parse_optional_punctuation("*") is not None:
            power = parser.parse_integer(allow_boolean=False, allow_negative=False)
            multiplies = parser.parse_optional_punctuation("*") is not None
        factor = _power(parser, base, power, start)
        scale = scale * (factor.inverse() if divides else factor)
        divides = not multiplies and parser.parse_optional_punctuation("/") is not None
        if not multiplies and not divides:
            return scale


def _parse_base(parser: AttrParser) -> int | str:
    """An integer, or the name of a prime."""
    start = parser.pos
    integer = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if integer is not None:
        if integer == 0:
            parser.raise_error("a scale is positive", start, parser.pos)
        return integer
    name = parser.parse_identifier(context_msg=" in a scale")
    if not (name[0] == "q" and name[1:].isdecimal() and len(name) < 6):
        parser.raise_error(f"expected an integer or a prime `qI`, found `{name}`", start)
    return name


def _power(parser: AttrParser, base: int | str, power: int, start: int) -> Scale:
    # Checked before the power is computed: it may be astronomically large.
    factor_bits = base.bit_length() * power if isinstance(base, int) and base != 2 else 0
    if power > POWER_LIMIT or factor_bits > RATIO_BITS:
        parser.raise_error("the power is too large", start, parser.pos)
    if isinstance(base, str):
        return Scale.of(0, {int(base[1:]): power}, Fraction(1))
    return Scale(power) if base == 2 else Scale.of(0, {}, Fraction(base**power))


@irdl_attr_definition
class ParamsAttr(Data[Parameters]):
    """`#ckks.params<ring_degree = N, q = [...], p = [...], digits = d, scale = 2**s, secret = S>`.

    `insecure` as a last word accepts parameters that miss the 128-bit limit.
    """

    name = "ckks.params"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Parameters:
        with parser.in_angle_brackets():
            start = parser.pos
            parser.parse_keyword("ring_degree")
            parser.parse_punctuation("=")
            ring_degree = parser.parse_integer(allow_boolean=False)
            q = _parse_primes(parser, "q")
            p = _parse_primes(parser, "p")
            digits = _parse_named_integer(parser, "digits")
            parser.parse_punctuation(",")
            parser.parse_keyword("scale")
            parser.parse_punctuation("=")
            scale_start = parser.pos
            scale = parse_scale(parser)
            if scale != Scale(scale.two) or scale.two < 1:
                parser.raise_error("the default scale is a power of two", scale_start, parser.pos)
            parser.parse_punctuation(",")
            parser.parse_keyword("secret")
            parser.parse_punctuation("=")
            secret = parser.parse_keyword_in(SECRETS) if SECRETS else ""
            insecure = False
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("insecure")
                insecure = True
            parameters = Parameters(ring_degree, q, p, digits, scale.two, secret, insecure)
            try:
                parameters.validate()
            except FheliumError as error:
                parser.raise_error(str(error), start, parser.pos)
        return parameters

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        with printer.in_angle_brackets():
            printer.print_string(
                f"ring_degree = {data.ring_degree}, q = {list(data.q)}, p = {list(data.p)}, "
                f"digits = {data.digits}, scale = 2**{data.scale_bits}, secret = {data.secret}"
            )
            if data.insecure:
                printer.print_string(", insecure")


def _parse_primes(parser: AttrParser, name: str) -> tuple[int, ...]:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
    )


def _parse_named_integer(parser: AttrParser, name: str) -> int:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return parser.parse_integer(allow_boolean=False)
