"""form-fusion-regions: groups polynomial ops into regions that become one kernel or a short chain of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.fusion_costs import product_costs
from fhelium_ir.analysis.region_graph import Unfusable, reindexes
from fhelium_ir.analysis.region_interface import (
    graph_of,
    is_kept,
    is_polynomial,
    region_inputs,
    stands_alone,
)
from fhelium_ir.backend.registry import (
    OperationImplementation,
    OperationImplementationRegistry,
    active_registry,
    is_compiled,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import fuse, location_of
from fhelium_ir.compiler.remarks import remark, remarks_wanted
from fhelium_ir.dialects import fusion, ntt, resource, rns

MAX_OPS = 48
"""Computing ops in a region."""

MAX_SEARCH = 4000
"""Clusters behind a producer that are looked at for a cycle, which keeps the pass linear in the program."""

MAX_INPUTS = 12
"""Buffers that a region reads: each is a live pointer and at least one live register."""


@dataclass(frozen=True)
class FormFusionRegions(ModulePass):
    """Grows clusters on the SSA graph from each op towards its producers.

    An op joins the cluster of a producer wherever that cluster stands in the text, if an implementation takes the
    joined ops as one region (`match_fusion` of those in the registry; the compiler's own asks whether the access
    patterns allow one kernel chain), if no path leaves the joined cluster and comes back, and if the region keeps to
    its limits of ops and buffers, which stand for registers. Ops that only re-index go into every region that reads
    through them. A base conversion feeds the first kernel of a transform; what follows a transform element by element
    joins its last kernel. So does the inner product of transformed digits with a key, where it is cheaper there
    (`fhelium_ir.analysis.fusion_costs`): the digits then never reach memory.

    An op that a preferred implementation executes as a whole, or that names one, stays outside of regions. It and every
    region of an implementation that brings its own code get the attribute `fusion.implementation`.

    Options:
        fuse: `false` puts each op in a region of its own, for comparison.
        window: a cluster only grows over producers whose first op is at most this many ops back, which keeps the
            pass linear in the program.
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file,
            for costs.
        prologue: `false` keeps apart, for comparison, a transform and what its first kernel could read.
        epilogue: `false` keeps apart a transform and what its last kernel could compute.
        key_product: `false` keeps apart transformed digits and their inner product with a key.
    """

    name = "form-fusion-regions"

    fuse: bool = True
    window: int = 400
    device: str = "gpu"
    prologue: bool = True
    epilogue: bool = True
    key_product: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        registry, device = active_registry(), load_device(self.device)
        for function in op.ops:
            if not isinstance(function, func.FuncOp):
                continue
            _fold_identities(function)
            _assign_whole_ops(function, registry)
            if any(is_polynomial(inner) for inner in function.body.ops):
                _Former(function, self, registry, device).run()


def _fold_identities(function: func.FuncOp) -> None:
    """Replaces re-indexings that keep every residue where it is by their operands, so that results stay aliases."""
    for op in list(function.body.ops):
        same = isinstance(op, rns.RestrictOp | rns.ExtractOp | rns.PadOp) or (
            isinstance(op, rns.PackOp) and len(op.parts) == 1
        )
        if same and not is_kept(op) and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()


def _assign_whole_ops(function: func.FuncOp, registry: OperationImplementationRegistry) -> None:
    """Marks the ops that an implementation executes as a whole, and regions that stand there already."""
    for op in function.body.ops:
        if isinstance(op, fusion.FusedOp):
            chosen: OperationImplementation | None = registry.select(op)
        elif is_polynomial(op):
            chosen = registry.select_whole(op)
        else:
            continue
        if chosen is not None and not is_compiled(chosen):
            op.attributes[fusion.IMPLEMENTATION] = StringAttr(chosen.name)
            remark("form-fusion-regions", op, "applied", f"left to '{chosen.name}' as a whole")


class _Cluster:
    """Computing ops that become one region, with the re-indexing ops they read through.

    `implementation` takes the region; None for an op that stays outside of regions.
    """

    def __init__(self, number: int, ops: Iterable[Operation]):
        self.number = number
        self.ops = list(ops)
        self.implementation: OperationImplementation | None = None


class _Former:
    def __init__(
        self,
        function: func.FuncOp,
        options: FormFusionRegions,
        registry: OperationImplementationRegistry,
        device: Device,
    ):
        self.registry = registry
        self.device = device
        self.function = function
        self.options = options
        self.fuse_ops = options.fuse
        self.window = options.window
        self.ops = list(function.body.block.ops)
        self.position = {op: index for index, op in enumerate(self.ops)}
        self.cluster_of: dict[Operation, _Cluster] = {}
        self.graph: nx.DiGraph[int] = nx.DiGraph()
        self.clusters: dict[int, _Cluster] = {}

    def run(self) -> None:
        waiting: list[Operation] = []
        for op in self.ops:
            if not is_polynomial(op):
                continue
            if reindexes(op) and not is_kept(op) and not self._needs_region(op):
                continue
            cluster = _Cluster(self.position[op], [op])
            if not is_kept(op):
                cluster.implementation = self._implementation(cluster)
            self._enter(cluster)
            if not self.fuse_ops or is_kept(op):
                continue
            if self._adds_a_result(op):
                waiting.append(op)
            else:
                self._grow(op)
        for op in waiting:
            if self.cluster_of[op].ops == [op]:
                self._grow(op)
        self._rewrite()

    def _adds_a_result(self, op: Operation) -> bool:
        """A conversion of a value that others read too: with its producer it is one more buffer to write, with its only
        consumer it costs nothing, so it waits for that consumer first."""
        return (
            isinstance(op, rns.SetRepresentativeOp)
            and op.result.has_one_use()
            and not op.operand.has_one_use()
        )

    def _needs_region(self, op: Operation) -> bool:
        """A re-indexing stands alone where its result must be in memory, or where nothing may be fused with it."""
        if stands_alone(op):
            return True
        views = (rns.RestrictOp, rns.ExtractOp, rns.DigitsOp)
        return not self.fuse_ops and not isinstance(op, views)

    def _enter(self, cluster: _Cluster) -> None:
        self.clusters[cluster.number] = cluster
        self.graph.add_node(cluster.number)
        for op in cluster.ops:
            self.cluster_of[op] = cluster
            for producer in self._producers(op):
                self.graph.add_edge(self.cluster_of[producer].number, cluster.number)

    def _producers(self, op: Operation) -> list[Operation]:
        """Computing ops in clusters whose results `op` reads, directly or through re-indexing."""
        found: list[Operation] = []
        for operand in op.operands:
            owner = operand.owner
            while (
                isinstance(owner, Operation) and reindexes(owner) and owner not in self.cluster_of
            ):
                owner = owner.operands[0].owner
            if isinstance(owner, Operation) and owner in self.cluster_of and owner not in found:
                found.append(owner)
        return found

    def _grow(self, op: Operation) -> None:
        """Joins the op's cluster with those of its producers, the nearest first."""
        producers = sorted(self._producers(op), key=lambda p: -self.position[p])
        for producer in producers:
            ours, theirs = self.cluster_of[op], self.cluster_of[producer]
            if ours is theirs:
                continue
            joined, reason = self._joined(theirs, ours)
            if joined is not None:
                self._join(theirs, ours, joined)
                text = f"fused with its producer {producer.name}{reason and f': it {reason}'}"
                remark("form-fusion-regions", op, "applied", text)
            else:
                remark(
                    "form-fusion-regions",
                    op,
                    "missed",
                    f"not fused with its producer {producer.name}: {reason}",
                )

    def _joined(
        self, producer: _Cluster, consumer: _Cluster
    ) -> tuple[OperationImplementation | None, str]:
        """The implementation that takes two clusters as one and what that saves, or None and why they stay apart."""
        if producer.implementation is None:
            return None, "an implementation executes it as a whole"
        kind = _kind_of_join(producer, consumer)
        if kind and not getattr(self.options, kind):
            return None, f"the option {kind} is false"
        ops = sorted({*producer.ops, *consumer.ops}, key=lambda o: self.position[o])
        if self.position[ops[-1]] - self.position[ops[0]] > self.window:
            return None, f"it lies more than {self.window} ops back"
        if len(ops) > MAX_OPS:
            return None, f"the region would hold more than {MAX_OPS} ops"
        if self._closes_cycle(producer, consumer):
            return None, "the joined region would depend on itself through another region"
        members = self._members(ops)
        if len(region_inputs(members)) > MAX_INPUTS:
            return None, f"the region would read more than {MAX_INPUTS} buffers"
        chosen = self.registry.select_fusion(members)
        if chosen is None:
            return None, self._why_not(members)
        for part in (producer, consumer):
            # What a preferred implementation has taken is not given to another one.
            if part.implementation is not chosen and self._is_preferred(part):
                assert part.implementation is not None
                return None, f"'{part.implementation.name}' does not take the joined region"
        if kind == "key_product" and is_compiled(chosen):
            costs = product_costs(graph_of(members), self.device)
            if costs is not None:
                reason = costs.reason(self.device)
                return (None, reason) if reason else (chosen, costs.text())
        return chosen, ""

    def _is_preferred(self, cluster: _Cluster) -> bool:
        implementation = cluster.implementation
        return implementation is not None and self.registry.is_preferred(implementation)

    def _why_not(self, members: Sequence[Operation]) -> str:
        if not remarks_wanted():
            return ""
        try:
            graph_of(members)
        except Unfusable as error:
            return str(error)
        return "no implementation takes the joined region"

    def _closes_cycle(self, producer: _Cluster, consumer: _Cluster) -> bool:
        """Whether a path from producer to consumer passes a third cluster; assumed where the search gets long."""
        pending = [n for n in self.graph.successors(producer.number) if n != consumer.number]
        seen = set(pending)
        while pending:
            number = pending.pop()
            if number == consumer.number or len(seen) > MAX_SEARCH:
                return True
            for after in self.graph.successors(number):
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return False

    def _join(
        self, producer: _Cluster, consumer: _Cluster, implementation: OperationImplementation
    ) -> None:
        keep, drop = sorted((producer, consumer), key=lambda c: c.number)
        keep.implementation = implementation
        keep.ops = sorted({*keep.ops, *drop.ops}, key=lambda o: self.position[o])
        for op in drop.ops:
            self.cluster_of[op] = keep
        for before in list(self.graph.predecessors(drop.number)):
            if before != keep.number:
                self.graph.add_edge(before, keep.number)
        for after in list(self.graph.successors(drop.number)):
            if after != keep.number:
                self.graph.add_edge(keep.number, after)
        self.graph.remove_node(drop.number)
        del self.clusters[drop.number]

    def _members(self, ops: Sequence[Operation]) -> list[Operation]:
        """A cluster's ops and the re-indexing ops that they read through, in program order."""
        members = set(ops)
        pending = list(ops)
        while pending:
            for operand in pending.pop().operands:
                owner = operand.owner
                if (
                    isinstance(owner, Operation)
                    and reindexes(owner)
                    and owner not in members
                    and owner not in self.cluster_of
                ):
                    members.add(owner)
                    pending.append(owner)
        return sorted(members, key=lambda o: self.position[o])

    def _outputs(self, cluster: _Cluster) -> list[SSAValue]:
        """Results of the cluster that something outside reads, maybe through re-indexing."""
        inside = set(cluster.ops)
        outputs: list[SSAValue] = []
        for op in cluster.ops:
            for result in op.results:
                if self._escapes(result, inside):
                    outputs.append(result)
        return outputs

    def _escapes(self, value: SSAValue, inside: set[Operation]) -> bool:
        for use in value.uses:
            user = use.operation
            if user in inside:
                continue
            if reindexes(user) and user not in self.cluster_of:
                if self._escapes(user.results[0], inside):
                    return True
                continue
            return True
        return False

    def _implementation(self, cluster: _Cluster) -> OperationImplementation:
        """The implementation that takes a single op as a region."""
        op, members = cluster.ops[0], self._members(cluster.ops)
        chosen = self.registry.select_fusion(members)
        if chosen is not None:
            return chosen
        try:
            graph_of(members)
        except Unfusable as error:
            raise FheliumError(
                f"form-fusion-regions: {op.name} has no region: {error}", location=location_of(op)
            ) from error
        asked = self.registry.candidates(fusion.FusedOp)
        names = ", ".join(candidate.name for candidate in asked) or "there are none"
        raise FheliumError(
            f"form-fusion-regions: no implementation executes '{op.name}'; asked for a region: {names}",
            location=location_of(op),
        )

    def _rewrite(self) -> None:
        """One stable topological sort of the clusters, one sweep."""
        block = self.function.body.block
        order = list(nx.lexicographical_topological_sort(self.graph))
        anchor = self.ops[-1]
        values: dict[SSAValue, SSAValue] = {}
        regions: list[tuple[_Cluster, list[SSAValue], list[SSAValue]]] = []
        for number in order:
            cluster = self.clusters[number]
            outputs = self._outputs(cluster)
            if outputs and cluster.implementation is None:
                regions.append((cluster, list(cluster.ops[0].operands), outputs))
            elif outputs:
                inputs = region_inputs(self._members(cluster.ops))
                regions.append((cluster, inputs, outputs))
        for op in self.ops:
            if isinstance(op, resource.RefOp):
                op.detach()
                block.insert_op_before(op, anchor)
        for cluster, inputs, outputs in regions:
            region: Operation
            if cluster.implementation is None:
                region = cluster.ops[0].clone(dict(values))
                region.location = cluster.ops[0].location
            else:
                region = self._region(cluster, inputs, outputs, values)
                if not is_compiled(cluster.implementation):
                    name = StringAttr(cluster.implementation.name)
                    region.attributes[fusion.IMPLEMENTATION] = name
            block.insert_op_before(region, anchor)
            for output, result in zip(outputs, region.results, strict=True):
                result.name_hint = output.name_hint
                values[output] = result
        for index, operand in enumerate(anchor.operands):
            anchor.operands[index] = values.get(operand, operand)
        for op in reversed(self.ops):
            if is_polynomial(op):
                op.detach()
                op.erase(safe_erase=False)

    def _region(
        self,
        cluster: _Cluster,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        values: dict[SSAValue, SSAValue],
    ) -> fusion.FusedOp:
        members = self._members(cluster.ops)
        body = Block(arg_types=[value.type for value in inputs])
        inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
        for value, argument in zip(inputs, body.args, strict=True):
            argument.name_hint = value.name_hint
        for op in members:
            copy = op.clone(inner)
            copy.location = op.location
            body.add_op(copy)
        _drop_dead(body, [inner[value] for value in outputs])
        body.add_op(fusion.YieldOp([inner[value] for value in outputs]))
        region = fusion.FusedOp(
            [values.get(value, value) for value in inputs],
            [value.type for value in outputs],
            Region(body),
        )
        region.location = fuse(op.location for op in members)
        region.yielded.location = region.location
        for output, result in zip(outputs, region.outputs, strict=True):
            result.name_hint = output.name_hint
        return region


def _kind_of_join(producer: _Cluster, consumer: _Cluster) -> str:
    """The option that allows a transform to be joined with this neighbour; empty if no transform takes part."""
    before, after = (
        any(isinstance(op, ntt.TransformOp) for op in cluster.ops)
        for cluster in (producer, consumer)
    )
    if after:
        return "" if before else "prologue"
    if not before:
        return ""
    transformed = {op.results[0] for op in producer.ops if isinstance(op, ntt.TransformOp)}
    products = (op for op in consumer.ops if isinstance(op, rns.AccumulateOp))
    return "key_product" if any(op.converted in transformed for op in products) else "epilogue"


def _drop_dead(body: Block, kept: Sequence[SSAValue]) -> None:
    for op in reversed(list(body.ops)):
        if not any(result in kept or result.first_use for result in op.results):
            op.detach()
            op.erase()
