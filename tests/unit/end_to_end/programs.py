"""Programs of the end-to-end tests, built op by op with all facts written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import StringIO

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.printing import print_mlir
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale

SCALE_BITS = {28: 22, 60: 46}
"""Scale by size of primes: products stay below one prime less."""


@cache
def chain(
    bits: int, limbs: int, digits: int, special: int | None = None, ring_degree: int = 32
) -> Parameters:
    """Primes of one size, with as many special ones as a digit has limbs unless stated."""
    size = -(-limbs // digits)
    p_bits = [bits] * (size if special is None else special)
    return generate(ring_degree, [bits] * limbs, p_bits, digits, SCALE_BITS[bits], insecure=True)


class Writer:
    """Appends ops to the one function of a module."""

    def __init__(self, parameters: Parameters, name: str = "program") -> None:
        self.parameters = parameters
        self.name = name
        self.block = Block()
        self.attributes: list[dict[str, Attribute]] = []

    def argument(
        self,
        name: str,
        level: int | None = None,
        size: int = 2,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """A ciphertext of the default scale, at the top level unless stated."""
        scale = Scale(self.parameters.scale_bits)
        at = self.parameters.top_level if level is None else level
        type_ = ckks.CiphertextType(ckks.CiphertextFacts(at, scale, size))
        return self._argument(name, type_, attributes)

    def plaintext(self, name: str) -> SSAValue:
        """A plaintext of the default scale at the top level."""
        scale = Scale(self.parameters.scale_bits)
        facts = ckks.PlaintextFacts(self.parameters.top_level, scale)
        return self._argument(name, ckks.PlaintextType(facts), None)

    def _argument(
        self, name: str, type_: Attribute, attributes: Mapping[str, Attribute] | None
    ) -> SSAValue:
        value = self.block.insert_arg(type_, len(self.block.args))
        value.name_hint = name
        self.attributes.append(dict(attributes or {}))
        return value

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(ckks.AddOp(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(ckks.SubOp(a, b))

    def negate(self, a: SSAValue) -> SSAValue:
        return self.emit(ckks.NegateOp(a))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(ckks.MulOp(a, b))

    def add_plain(self, a: SSAValue, p: SSAValue) -> SSAValue:
        return self.emit(ckks.AddPlainOp(a, p))

    def sub_plain(self, a: SSAValue, p: SSAValue) -> SSAValue:
        return self.emit(ckks.SubPlainOp(a, p))

    def mul_plain(self, a: SSAValue, p: SSAValue) -> SSAValue:
        return self.emit(ckks.MulPlainOp(a, p))

    def relinearize(self, a: SSAValue) -> SSAValue:
        return self.emit(ckks.RelinearizeOp(a))

    def rescale(self, a: SSAValue) -> SSAValue:
        return self.emit(ckks.RescaleOp(a))

    def mod_switch(self, a: SSAValue, levels: int = 1) -> SSAValue:
        return self.emit(ckks.ModSwitchOp(a, {"levels": IntegerAttr(levels, i64)}))

    def rotate(self, a: SSAValue, steps: int) -> SSAValue:
        return self.emit(ckks.RotateOp.by(a, steps))

    def conjugate(self, a: SSAValue) -> SSAValue:
        return self.emit(ckks.ConjugateOp(a))

    def product(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The product, relinearized and rescaled."""
        return self.rescale(self.relinearize(self.mul(a, b)))

    def constant(self, values: Sequence[float], like: SSAValue) -> SSAValue:
        """An encoded constant of the level and scale of a ciphertext."""
        tensor = TensorType(f64, [len(values)])
        dense = DenseIntOrFPElementsAttr.from_list(tensor, list(values))
        assert isinstance(like.type, ckks.CiphertextType)
        facts = ckks.PlaintextFacts(like.type.data.level, like.type.data.scale)
        source = self.emit(arith.ConstantOp(dense))
        return self.emit(ckks.EncodeOp(source, ckks.PlaintextType(facts)))

    def text(self, *results: SSAValue) -> str:
        """The module as text, with a function that returns `results`."""
        types = [value.type for value in results]
        self.block.add_op(func.ReturnOp(*results))
        function = func.FuncOp(
            self.name,
            FunctionType.from_lists([value.type for value in self.block.args], types),
            Region(self.block),
            arg_attrs=ArrayAttr([DictionaryAttr(entry) for entry in self.attributes]),
        )
        module = ModuleOp([function], {ckks.PARAMS: ckks.ParamsAttr(self.parameters)})
        stream = StringIO()
        print_mlir(module, stream)
        return stream.getvalue()


def bounded(limit: float) -> dict[str, Attribute]:
    """Argument attributes: a bound on |slot|."""
    return {"ckks.range": FloatAttr(limit, f64)}


def sums(parameters: Parameters) -> str:
    """Everything that needs no key and no level: sums, signs, plaintexts, rotation by zero."""
    w = Writer(parameters)
    x, y, p = w.argument("x"), w.argument("y"), w.plaintext("p")
    k = w.constant([0.5, -0.25], x)
    total = w.add(w.add_plain(w.sub(x, w.negate(y)), p), x)
    shifted = w.sub_plain(w.sub_plain(total, k), p)
    rotated = w.rotate(w.rotate(shifted, 0), -parameters.slots)
    return w.text(w.add_plain(rotated, k), w.sub(y, rotated))


def rotations(parameters: Parameters) -> str:
    """Rotations by positive, negative, zero and wrapping steps, and conjugation."""
    w = Writer(parameters)
    x, slots = w.argument("x", attributes=bounded(0.5)), parameters.slots
    turned = [w.rotate(x, steps) for steps in (1, -1, 0, slots + 3, -slots, 3 - slots)]
    total = w.conjugate(w.rotate(x, 5))
    for value in turned:
        total = w.sub(value, total)
    return w.text(total, turned[1], w.conjugate(x))


def products(parameters: Parameters) -> str:
    """A product at the top level, rotated at the next one; needs two limbs."""
    w = Writer(parameters)
    x, y = w.argument("x", attributes=bounded(0.5)), w.argument("y")
    low = w.product(x, y)
    return w.text(w.add(low, w.rotate(low, 3)))


def triples(parameters: Parameters) -> str:
    """Size-3 ciphertexts through every op that takes them; needs three limbs."""
    w = Writer(parameters)
    x, y, z = w.argument("x"), w.argument("y"), w.argument("z", level=parameters.top_level)
    xy = w.mul(x, y)
    k = w.constant([0.5, -0.25, 1.0, 0.0], xy)
    total = w.sub(w.add(w.negate(xy), w.mul(z, y)), w.mul(x, z))
    shifted = w.sub_plain(w.add_plain(total, k), w.constant([0.125], xy))
    low = w.mod_switch(w.rescale(shifted))
    scaled = w.mul_plain(w.rescale(shifted), w.constant([0.5], w.mod_switch(x)))
    return w.text(xy, shifted, low, scaled, w.rescale(w.relinearize(shifted)))


def levels(parameters: Parameters) -> str:
    """Arguments of several levels, products down the chain, skipped levels; three limbs."""
    w = Writer(parameters)
    top = parameters.top_level
    x = w.argument("x", attributes=bounded(0.5))
    low = w.argument("low", level=top - 1, attributes=bounded(0.25))
    first = w.product(x, x)
    second = w.product(w.mod_switch(x), low)
    dropped = w.conjugate(w.mod_switch(x, levels=top))
    scaled = w.rescale(w.mul_plain(w.rotate(x, 2), w.constant([0.75, -0.5], x)))
    return w.text(second, w.sub(first, w.conjugate(scaled)), dropped)


def interface(parameters: Parameters) -> str:
    """Arguments that are returned or unused, and a result that is returned twice."""
    w = Writer(parameters)
    x, y = w.argument("x"), w.argument("unused")
    z = w.argument("z", size=3)
    total = w.negate(x)
    del y
    return w.text(x, total, total, z, w.negate(z))


def divisions(parameters: Parameters) -> str:
    """Key switches whose divisions merge: with a rescale, and in sums with all that goes through them; three limbs."""
    w = Writer(parameters)
    top = parameters.top_level
    x, y = w.argument("x", attributes=bounded(0.25)), w.argument("y", attributes=bounded(0.25))
    xy = w.relinearize(w.mul(x, y))
    first = w.rescale(
        w.sub_plain(
            w.add_plain(w.negate(xy), w.constant([0.5, -0.25], xy)), w.constant([0.125], xy)
        )
    )
    factors = [w.constant([0.25, -0.5, 0.125 * k, 0.0], x) for k in range(4)]
    turned = [w.rotate(x, 1), w.conjugate(x), w.rotate(x, -3)]
    total = w.mul_plain(x, factors[3])
    for value, factor in zip(turned, factors, strict=False):
        total = w.add(total, w.mul_plain(value, factor))
    other = w.sub(w.sub(turned[0], y), w.add(turned[2], turned[1]))
    return w.text(
        first,
        w.rescale(total),
        total,
        other,
        w.mod_switch(w.add(other, w.rotate(y, 2)), levels=top),
    )


PROGRAMS: Mapping[str, Callable[[Parameters], str]] = {
    "sums": sums,
    "rotations": rotations,
    "products": products,
    "triples": triples,
    "levels": levels,
    "interface": interface,
    "divisions": divisions,
}
