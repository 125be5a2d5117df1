"""convert-ckks-to-rns: each ckks op in fusable primitives over residue polynomials, key switching included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks, ntt, resource, rns
from fhelium_ir.lowering.pack_folding import fold_extracted_packs
from fhelium_ir.parameters import Parameters

ARGUMENT_TYPE = "ckks.type"
"""Argument and result attribute that keeps the program-stage type after the lowering: the client encodes by it."""
ARGUMENT_NAME = "ckks.name"
"""Argument attribute with the name under which the client passes the value."""


@dataclass(frozen=True)
class ConvertCkksToRns(ModulePass):
    """Lowers every function on ciphertexts to bundles of residue polynomials.

    Arguments and results become bundles in the evaluation domain, bit-reversed, reduced; keys and plaintexts become
    declared resources. Rotations by a multiple of the slot count disappear.
    """

    name = "convert-ckks-to-rns"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, func.FuncOp) and _on_ciphertexts(f)]
        if not functions:
            return
        parameters = module_parameters(op)
        resources = Resources(op)
        for function in functions:
            _FunctionLowering(parameters, resources, function).run()
        fold_extracted_packs(op)


def module_parameters(module: ModuleOp) -> Parameters:
    """The parameters that the module states.

    Raises:
        FheliumError: the module has none.
    """
    attribute = module.attributes.get(ckks.PARAMS)
    if not isinstance(attribute, ckks.ParamsAttr):
        raise FheliumError(
            f"the module has no `{ckks.PARAMS}` attribute", location=location_of(module)
        )
    return attribute.data


def _on_ciphertexts(function: func.FuncOp) -> bool:
    types = (*function.function_type.inputs, *function.function_type.outputs)
    return any(isinstance(type_, ckks.CiphertextType | ckks.PlaintextType) for type_ in types)


class Resources:
    """Declares keys and plaintexts at the top of a module, each once."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._names: dict[tuple[str, DictionaryAttr], str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self._last: Operation | None = None
        for op in module.ops:
            symbol = op.properties.get("sym_name")
            if isinstance(symbol, StringAttr):
                self._taken.add(symbol.data)
            if isinstance(op, resource.DeclareOp):
                self._names[op.kind.data, op.parameters] = op.sym_name.data
                self._last = op

    def declare(
        self,
        prefix: str,
        kind: str,
        parameters: dict[str, Attribute],
        source: Operation | None = None,
    ) -> str:
        """The symbol of a resource, declared on first use, which is `source`; `prefix` becomes unique by a number."""
        key = (kind, DictionaryAttr(parameters))
        if key in self._names:
            return self._names[key]
        name = self._free_name(prefix)
        declaration = resource.DeclareOp(name, kind, parameters)
        if source is not None:
            declaration.location = source.location
        block = self._module.body.block
        if self._last is not None:
            block.insert_op_after(declaration, self._last)
        elif block.first_op is not None:
            block.insert_op_before(declaration, block.first_op)
        else:
            block.add_op(declaration)
        self._last = declaration
        self._names[key] = name
        return name

    def _free_name(self, prefix: str) -> str:
        """A symbol that the module does not have: the prefix, or else the prefix with a number."""
        name = prefix
        while name in self._taken:
            # Where the last search ended: a program may declare thousands of plaintexts.
            self._counts[prefix] = self._counts.get(prefix, 0) + 1
            name = f"{prefix}_{self._counts[prefix]}"
        self._taken.add(name)
        return name


@dataclass
class _FunctionLowering:
    parameters: Parameters
    resources: Resources
    function: func.FuncOp
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    block: Block = field(default_factory=Block)
    source: Operation | None = None

    def run(self) -> None:
        """Replaces the function's body, type and argument attributes."""
        function = self.function
        old = function.body.block
        self.block = Block(arg_types=[self.lowered(argument.type) for argument in old.args])
        for before, after in zip(old.args, self.block.args, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after
        results = list(function.function_type.outputs)
        for op in old.ops:
            self.source = op
            self.lower(op)
        arguments = [
            self._argument_attributes(index, argument.type, argument.name_hint)
            for index, argument in enumerate(old.args)
        ]
        function.properties["arg_attrs"] = ArrayAttr(arguments)
        function.properties["res_attrs"] = ArrayAttr(
            [DictionaryAttr({ARGUMENT_TYPE: type_}) for type_ in results]
        )
        function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in self.block.args],
            [self.lowered(type_) for type_ in results],
        )
        region = Region(self.block)
        function.detach_region(function.body)
        function.add_region(region)

    def _argument_attributes(
        self, index: int, type_: Attribute, name: str | None
    ) -> DictionaryAttr:
        given = self.function.arg_attrs
        known = dict(given.data[index].data) if given is not None else {}
        known.setdefault(ARGUMENT_NAME, StringAttr(name or f"arg{index}"))
        return DictionaryAttr({**known, ARGUMENT_TYPE: type_})

    def lowered(self, type_: Attribute) -> Attribute:
        """The bundle type of a program-stage type at the interface."""
        if not isinstance(type_, ckks.CiphertextType | ckks.PlaintextType):
            raise self.error(f"values of type {type_} have no lowering")
        level = type_.data.level
        components = type_.data.size if isinstance(type_, ckks.CiphertextType) else 1
        if level is None or components is None or type_.data.scale is None:
            raise self.error(f"{type_} has absent facts; run ckks-manage first")
        if type_.data.domain != "evaluation":
            raise self.error(f"{type_} is not in the evaluation domain")
        if type_.data.extended:
            raise self.error(f"{type_} is extended and crosses the interface of the function")
        if level > self.parameters.top_level:
            raise self.error(f"{type_} is above the top level {self.parameters.top_level}")
        return rns.PolyType(self.facts(level, components))

    def facts(self, level: int, components: int) -> rns.PolyFacts:
        basis = rns.Basis(q=(0, level + 1))
        return rns.PolyFacts(self.parameters.ring_degree, basis, components, order="bit_reversed")

    def error(self, message: str) -> FheliumError:
        op = self.source if self.source is not None else self.function
        return FheliumError(f"convert-ckks-to-rns: {message}", location=location_of(op))

    def emit(self, op: Operation) -> SSAValue:
        """Appends an op with the source op's location."""
        if self.source is not None:
            op.location = self.source.location
        self.block.add_op(op)
        return op.results[0]

    def lower(self, op: Operation) -> None:
        """Appends the primitives of one op and records its result."""
        if isinstance(op, func.ReturnOp):
            new = func.ReturnOp(*(self.values[operand] for operand in op.operands))
            new.location = op.location
            self.block.add_op(new)
            return
        if isinstance(op, arith.ConstantOp):
            return  # read by the encode that uses it
        rule = _RULES.get(type(op))
        if rule is None:
            raise self.error(f"no lowering for {op.name}")
        operands = [self.values[operand] for operand in op.operands if operand in self.values]
        result = rule(self, op, operands)
        if result.name_hint is None:
            result.name_hint = op.results[0].name_hint
        self.values[op.results[0]] = result

    def key_switch(self, c: SSAValue, kind: str, parameters: dict[str, Attribute]) -> SSAValue:
        """c * key over the digits of c: two components over the basis of c and p, P times the switched ones.

        `c` has one component in the evaluation domain. Han and Ki (2020), with the gadget of `Parameters`.
        """
        facts = cast(rns.PolyType, c.type).data
        size, special = self.parameters.digit_size, len(self.parameters.p)
        q_basis, limbs = facts.basis, len(facts.basis)
        if self.parameters.digit_count(limbs) < self.parameters.digits:
            remark(
                "convert-ckks-to-rns",
                self.source,
                "analysis",
                f"{limbs} limbs in digits of {size} make {self.parameters.digit_count(limbs)} "
                f"digits, fewer than the {self.parameters.digits} of the parameters",
            )
        coefficients = self.emit(ntt.InverseOp(c))
        digits = self.emit(rns.DigitsOp.of(coefficients, size))
        punctured = self.emit(_punctured(digits))
        extended = rns.Basis(q_basis.q, (0, special))
        digit_facts = cast(rns.PolyType, punctured.type).data
        converted = self.emit(
            _base_convert(
                punctured,
                replace(digit_facts, basis=extended, digits=rns.Digits("complement", size)),
                "centred",
                "none",
            )
        )
        transformed = self.emit(ntt.ForwardOp(converted))
        return self.emit(rns.AccumulateOp(c, transformed, self.key(kind, parameters)))

    def switched(
        self, op: ckks.KeySwitchOp, c: SSAValue, kind: str, parameters: dict[str, Attribute]
    ) -> SSAValue:
        """The switched c; P times it if the op leaves out the division."""
        products = self.key_switch(c, kind, parameters)
        return products if op.extended else self.mod_down(products)

    def with_rest(self, op: ckks.KeySwitchOp, rest: SSAValue, switched: SSAValue) -> SSAValue:
        """The sum with the components that need no key switch."""
        return self.emit(rns.AddOp(self.extend(rest) if op.extended else rest, switched))

    def extend(self, x: SSAValue) -> SSAValue:
        """P times a bundle, over its basis and p."""
        facts = cast(rns.PolyType, x.type).data
        special = rns.Basis(p=(0, len(self.parameters.p)))
        constant = rns.ConstantAttr(rns.Constant("product", special))
        multiple = self.emit(rns.MulConstantOp(x, {"constant": constant}))
        basis = rns.Basis(facts.basis.q, special.p)
        return self.emit(rns.EmbedOp(multiple, None, rns.PolyType(replace(facts, basis=basis))))

    def mod_down(self, x: SSAValue) -> SSAValue:
        """A bundle over q and p divided by P."""
        basis = cast(rns.PolyType, x.type).data.basis
        return self.divide(x, rns.Basis(p=basis.p), rns.Basis(q=basis.q))

    def key(self, kind: str, parameters: dict[str, Attribute]) -> SSAValue:
        """A reference to a key of the client."""
        galois = parameters.get("galois")
        name = kind if galois is None else f"{kind}_{cast(IntegerAttr, galois).value.data}"
        symbol = self.resources.declare(name, kind, parameters, self.source)
        size = self.parameters.digit_size
        basis = rns.Basis((0, len(self.parameters.q)), (0, len(self.parameters.p)))
        facts = rns.PolyFacts(
            self.parameters.ring_degree, basis, 2, rns.Digits("key", size), order="bit_reversed"
        )
        return self.emit(resource.RefOp(symbol, rns.PolyType(facts)))

    def divide(self, x: SSAValue, divisor: rns.Basis, kept: rns.Basis) -> SSAValue:
        """(x - [x] mod divisor) / divisor over the basis `kept`: ModDown by P, rescale by q_l, both by P * q_l."""
        facts = cast(rns.PolyType, x.type).data
        rest = self.emit(rns.RestrictOp(x, None, rns.PolyType(replace(facts, basis=divisor))))
        rest = self.emit(ntt.InverseOp(rest))
        if len(divisor) > 1:
            rest = self.emit(_punctured(rest))
        rest_facts = cast(rns.PolyType, rest.type).data
        converted = self.emit(
            _base_convert(rest, replace(rest_facts, basis=kept), "canonical", "nearest")
        )
        converted = self.emit(ntt.ForwardOp(converted))
        own = self.emit(rns.RestrictOp(x, None, rns.PolyType(replace(facts, basis=kept))))
        difference = self.emit(rns.SubOp(own, converted))
        constant = rns.ConstantAttr(rns.Constant("inverse", divisor))
        return self.emit(rns.MulConstantOp(difference, {"constant": constant}))

    def components(self, x: SSAValue) -> list[SSAValue]:
        """Each component of a bundle as a bundle of its own."""
        count = cast(rns.PolyType, x.type).data.components
        return [self.emit(rns.ExtractOp.of(x, index)) for index in range(count)]


def _punctured(x: SSAValue) -> rns.MulConstantOp:
    constant = rns.ConstantAttr(rns.Constant("punctured_inverse"))
    return rns.MulConstantOp(x, {"constant": constant})


def _base_convert(
    x: SSAValue, target: rns.PolyFacts, lift: str, correction: str
) -> rns.BaseConvertOp:
    properties = {"lift": StringAttr(lift), "correction": StringAttr(correction)}
    return rns.BaseConvertOp(x, properties, rns.PolyType(target))


def _add(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.emit(rns.AddOp(values[0], values[1]))


def _sub(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.emit(rns.SubOp(values[0], values[1]))


def _negate(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.emit(rns.NegateOp(values[0]))


def _mul(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    emit = lowering.emit
    x = lowering.components(values[0])
    y = x if values[0] is values[1] else lowering.components(values[1])
    low = emit(rns.MulOp(x[0], y[0]))
    cross = emit(rns.MulOp(x[0], y[1]))
    other = cross if x is y else emit(rns.MulOp(x[1], y[0]))
    middle = emit(rns.AddOp(cross, other))
    high = emit(rns.MulOp(x[1], y[1]))
    return emit(rns.PackOp([low, middle, high]))


def _padded(lowering: _FunctionLowering, values: Sequence[SSAValue]) -> SSAValue:
    """The plaintext with as many components as the ciphertext; P times it for an extended ciphertext."""
    facts = cast(rns.PolyType, values[0].type).data
    plain = lowering.extend(values[1]) if len(facts.basis) > facts.basis.q[1] else values[1]
    return lowering.emit(rns.PadOp.to(plain, facts.components))


def _add_plain(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.emit(rns.AddOp(values[0], _padded(lowering, values)))


def _sub_plain(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.emit(rns.SubOp(values[0], _padded(lowering, values)))


def _mul_plain(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    parts = lowering.components(values[0])
    products = [lowering.emit(rns.MulOp(part, values[1])) for part in parts]
    return lowering.emit(rns.PackOp(products))


def _relinearize(
    lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]
) -> SSAValue:
    assert isinstance(op, ckks.RelinearizeOp)
    high = lowering.emit(rns.ExtractOp.of(values[0], 2))
    switched = lowering.switched(op, high, "relinearization_key", {})
    low = lowering.emit(rns.ExtractOp.of(values[0], 0, 2))
    return lowering.with_rest(op, low, switched)


def _apply_galois(
    lowering: _FunctionLowering, op: ckks.KeySwitchOp, x: SSAValue, element: int
) -> SSAValue:
    parts = [lowering.emit(rns.AutomorphismOp.by(part, element)) for part in lowering.components(x)]
    key: dict[str, Attribute] = {"galois": IntegerAttr(element, i64)}
    switched = lowering.switched(op, parts[1], "galois_key", key)
    padded = lowering.emit(rns.PadOp.to(parts[0], 2))
    return lowering.with_rest(op, padded, switched)


def _rotate(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, ckks.RotateOp)
    if op.step % lowering.parameters.slots == 0:
        remark(
            "convert-ckks-to-rns", op, "applied", f"rotation by {op.step} is the identity: removed"
        )
        return lowering.extend(values[0]) if op.extended else values[0]
    return _apply_galois(lowering, op, values[0], lowering.parameters.galois(op.step))


def _conjugate(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, ckks.ConjugateOp)
    return _apply_galois(lowering, op, values[0], lowering.parameters.conjugation)


def _extend(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.extend(values[0])


def _mod_down(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    return lowering.mod_down(values[0])


def _rescale(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    basis = cast(rns.PolyType, values[0].type).data.basis
    level = basis.q[1] - 1
    # Of an extended ciphertext the divisor is P * q_l.
    divisor = rns.Basis(q=(level, level + 1), p=basis.p)
    return lowering.divide(values[0], divisor, rns.Basis(q=(0, level)))


def _mod_switch(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, ckks.ModSwitchOp)
    facts = cast(rns.PolyType, values[0].type).data
    basis = rns.Basis(q=(0, facts.basis.q[1] - op.dropped), p=facts.basis.p)
    return lowering.emit(rns.RestrictOp(values[0], None, rns.PolyType(replace(facts, basis=basis))))


def _adopt_scale(
    lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]
) -> SSAValue:
    return values[0]


def _encode(lowering: _FunctionLowering, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, ckks.EncodeOp)
    constant = op.values.owner
    if not isinstance(constant, arith.ConstantOp) or not isinstance(
        constant.value, DenseIntOrFPElementsAttr
    ):
        raise lowering.error("ckks.encode needs a constant vector")
    facts = op.result.type.data
    type_ = lowering.lowered(ckks.PlaintextType(replace(facts, extended=False)))
    assert facts.level is not None and facts.scale is not None
    scale = facts.scale.value(lowering.parameters.q)
    parameters: dict[str, Attribute] = {
        "values": constant.value,
        "level": IntegerAttr(facts.level, i64),
        "scale": StringAttr(f"{scale.numerator}/{scale.denominator}"),
    }
    if facts.extended:
        parameters["special"] = IntegerAttr(len(lowering.parameters.p), i64)
        poly = cast(rns.PolyType, type_).data
        basis = rns.Basis(poly.basis.q, (0, len(lowering.parameters.p)))
        type_ = rns.PolyType(replace(poly, basis=basis))
    symbol = lowering.resources.declare("plaintext", "plaintext", parameters, lowering.source)
    return lowering.emit(resource.RefOp(symbol, cast(rns.PolyType, type_)))


_Rule = Callable[[_FunctionLowering, Operation, Sequence[SSAValue]], SSAValue]

_RULES: dict[type[Operation], _Rule] = {
    ckks.AddOp: _add,
    ckks.SubOp: _sub,
    ckks.NegateOp: _negate,
    ckks.MulOp: _mul,
    ckks.AddPlainOp: _add_plain,
    ckks.SubPlainOp: _sub_plain,
    ckks.MulPlainOp: _mul_plain,
    ckks.RelinearizeOp: _relinearize,
    ckks.RotateOp: _rotate,
    ckks.ConjugateOp: _conjugate,
    ckks.ExtendOp: _extend,
    ckks.ModDownOp: _mod_down,
    ckks.RescaleOp: _rescale,
    ckks.ModSwitchOp: _mod_switch,
    ckks.AdoptScaleOp: _adopt_scale,
    ckks.EncodeOp: _encode,
}
