"""The faults: one for each kind of mistake that a compiler of this sort can make."""

from __future__ import annotations

from tests.planted_faults.planting import Fault

LOWERING = "fhelium_ir.lowering"
PASSES = "fhelium_ir.passes"
ANALYSIS = "fhelium_ir.analysis"

FAULTS = (
    Fault(
        "a dropped reduction in the butterflies", f"{LOWERING}.butterflies",
        "values[i] = self.emitter.reduce(values[i], int(bounds[i]), to)", "pass",
    ),
    Fault(
        "a dropped reduction of partial sums", f"{LOWERING}.region_kernels",
        "return self.reduce(summed, PARTIAL_SUM + 2, PARTIAL_SUM)", "return summed",
    ),
    Fault(
        "a wrong digit length", f"{LOWERING}.convert_ckks_to_rns",
        "digits = self.emit(rns.DigitsOp.of(coefficients, size))",
        "digits = self.emit(rns.DigitsOp.of(coefficients, max(1, size - 1)))",
        target="",
    ),
    Fault(
        "one limb off in a table of constants", "fhelium_ir.backend.materializer",
        "return (self.parameters.q if limb.family == \"q\" else self.parameters.p)[limb.index]",
        "return (self.parameters.q if limb.family == \"q\" else self.parameters.p)[limb.index - 1]",
    ),
    Fault(
        "swapped twiddles", "fhelium_ir.backend.materializer",
        "pow(root, -1, q) if inverse else root, degree, q)",
        "pow(root, -1, q) if not inverse else root, degree, q)",
    ),
    Fault(
        "floor for round in divisions", f"{LOWERING}.region_kernels",
        "half = build.constant(1 << 31)", "half = build.constant(0)",
    ),
    Fault(
        "a level that is not counted", f"{ANALYSIS}.level_plan",
        "return self._convert(\"rescale\", reduced, x.depth + 1, False, 2, x.source)",
        "return self._convert(\"rescale\", reduced, x.depth, False, 2, x.source)",
        target="",
    ),
    Fault(
        "a canonical lift for a centred one", "fhelium_ir.backend.materializer",
        "helper, shift = (prime - 1) // 2, 0", "helper, shift = prime, 0",
    ),
    Fault(
        "the wrong direction of rotations", f"{LOWERING}.convert_ckks_to_rns",
        "lowering.parameters.galois(op.step))", "lowering.parameters.galois(-op.step))",
        target="",
    ),
    Fault(
        "a conjugation that is none", f"{LOWERING}.convert_ckks_to_rns",
        "return _apply_galois(lowering, op, values[0], lowering.parameters.conjugation)",
        "return values[0]",
        target="",
    ),
    Fault(
        "relinearization dropped", f"{LOWERING}.convert_ckks_to_rns",
        "    return lowering.with_rest(op, low, switched)\n\n\ndef _apply_galois",
        "    return low\n\n\ndef _apply_galois",
        target="",
    ),
    Fault(
        "a constant encoded at the wrong scale", f"{PASSES}.automatic_levels",
        "target = self._scale(level) * Scale(0, ((level + 1, 1),))",
        "target = self._scale(level + 1) * Scale(0, ((level + 1, 1),))",
        target="",
    ),
    Fault(
        "sums of unequal scales accepted", "fhelium_ir.dialects.ckks",
        "if left is not None and right is not None and left != right:",
        "if rule != \"scale\" and left is not None and right is not None and left != right:",
        target="",
    ),
    Fault(
        "a wrong interval of sums", f"{ANALYSIS}.representatives",
        "return operands[0] + operands[1]", "return max(operands[0], operands[1])",
    ),
    Fault(
        "regions in the order of their numbers", f"{PASSES}.form_fusion_regions",
        "order = list(nx.lexicographical_topological_sort(self.graph))",
        "order = sorted(self.graph.nodes, reverse=True)",
        target="",
    ),
    Fault(
        "buffers that overlap in time", f"{ANALYSIS}.arena",
        "all(end <= count for", "all(end <= count + 1 for",
    ),
    Fault(
        "a wrong entry in the row table", f"{ANALYSIS}.region_graph",
        "column = self.column((\"row\", buffer, place.path), place.rows)",
        "column = self.column((\"row\", buffer, place.path), (*place.rows[:-1], place.rows[0]))",
    ),
    Fault(
        "a constant at the wrong exponent", "fhelium_ir.backend.materializer",
        "factor = modular.prepare(pow(self.radix, exponent, q), q)",
        "factor = modular.prepare(pow(self.radix, exponent + 1, q), q)",
    ),
    Fault(
        "an automorphism by the inverse element", "fhelium_ir.backend.materializer",
        "source = (galois * (2 * index + 1) % (2 * degree) - 1) // 2",
        "source = (pow(galois, -1, 2 * degree) * (2 * index + 1) % (2 * degree) - 1) // 2",
    ),
    Fault(
        "one iteration too many", f"{PASSES}.unroll_loops",
        "for index in range(start, stop, step):", "for index in range(start, stop + 1, step):",
        target="",
    ),
    Fault(
        "the wrong branch", f"{PASSES}.unroll_loops",
        "region = op.true_region if condition else op.false_region",
        "region = op.false_region if condition else op.true_region",
        target="",
    ),
    Fault(
        "headroom that is not there", f"{PASSES}.ckks_check",
        "    if not fits:\n", "    if not fits and bound < 1:\n",
        target="",
    ),
    Fault(
        "a wrong comparison on the CPU", f"{LOWERING}.cpu.operations",
        "arith.MinUIOp: \"ult\"", "arith.MinUIOp: \"slt\"",
        target="cpu",
    ),
    Fault(
        "a wrong comparison in Triton text", f"{LOWERING}.triton.printer",
        "arith.MinUIOp: (\"tl.minimum\", False)", "arith.MinUIOp: (\"tl.minimum\", True)",
        target="triton-interpret",
    ),
    Fault(
        "diagonals that are not turned back", f"{PASSES}.ckks_expand",
        "turned = tuple(diagonal[(j - giant) % size] for j in range(size))",
        "turned = tuple(diagonal[j % size] for j in range(size))",
        target="",
    ),
    Fault(
        "a Chebyshev recurrence without its last term", f"{PASSES}.ckks_expand",
        "product = writer.minus(double, self.elements[high - low])", "product = double",
        target="",
    ),
    Fault(
        "a sum of one slot too few", f"{PASSES}.ckks_expand",
        "for bit in bin(op.number)[3:]:", "for bit in bin(max(1, op.number - 1))[3:]:",
        target="",
    ),
    Fault(
        "a transform shared by different values", f"{PASSES}.place_domains",
        "return (op.name, op.operand, tuple", "return (op.name, None, tuple",
        target="",
    ),
    Fault(
        "hoisted digits that are not turned", f"{PASSES}.hoist_rotations",
        "rotation.accumulate.operands[1] = turned.result",
        "rotation.accumulate.operands[1] = value",
        target="",
    ),
    Fault(
        "steps composed of the wrong keys", f"{PASSES}.compose_rotations",
        "left = (left - keys[-1]) % self.slots", "left = (left - abs(keys[-1])) % self.slots",
        target="",
    ),
    Fault(
        "a size that is not printed", "fhelium_ir.dialects.ckks_types",
        "if self.data.size != 2:", "if self.data.size not in (2, 3):",
        target="",
    ),
    Fault(
        "encryption missing in the precision report", f"{ANALYSIS}.precision",
        "error[ENCRYPTION] = fresh / scale", "error[ENCRYPTION] = 0 * fresh",
        target="",
    ),
    Fault(
        "a rescale that rounds at the wrong level", f"{LOWERING}.convert_ckks_to_rns",
        "level = basis.q[1] - 1\n", "level = max(1, basis.q[1] - 2)\n",
        target="",
    ),
)  # fmt: skip
