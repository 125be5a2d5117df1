"""The MLIR text of generated programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fhelium_ir.parameters import Parameters
from fhelium_ir.testing.random_programs.statements import (
    Branch,
    Call,
    Function,
    Loop,
    Number,
    Op,
    Raw,
    Statement,
)


def module_text(parameters: Parameters | None, functions: Sequence[Function]) -> str:
    """A module; without parameters they are left to `select-parameters`."""
    head = (
        "module {"
        if parameters is None
        else f"module attributes {{{parameters_text(parameters)}}} {{"
    )
    parts = [head, *(function_text(function) for function in functions), "}", ""]
    return "\n".join(parts)


def parameters_text(parameters: Parameters) -> str:
    """The module attribute with the parameters."""
    insecure = ", insecure" if parameters.insecure else ""
    return (
        f"ckks.params = #ckks.params<\n  ring_degree = {parameters.ring_degree}, "
        f"q = {list(parameters.q)}, p = {list(parameters.p)},\n  digits = {parameters.digits}, "
        f"scale = 2**{parameters.scale_bits}, secret = {parameters.secret}{insecure}>"
    )


def function_text(function: Function) -> str:
    """One function."""
    arguments = ", ".join(
        f"%{name} : {type_}{' ' if attributes else ''}{attributes}"
        for name, type_, attributes in function.arguments
    )
    types = ", ".join(type_ for _, type_ in function.results)
    outputs = f" -> ({types})" if function.results else ""
    private = "private " if function.private else ""
    lines = [f"func.func {private}@{function.name}({arguments}){outputs} {{"]
    lines += _body(function.body, "  ")
    names = ", ".join(f"%{name}" for name, _ in function.results)
    lines += [f"  return {names} : {types}" if names else "  return", "}"]
    return "\n".join(lines)


def _body(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        for line in _lines(statement):
            yield indent + line


def _lines(statement: Statement) -> Iterator[str]:
    match statement:
        case Raw():
            yield from statement.lines
        case Op():
            yield from _op(statement)
        case Number(kind="constant"):
            yield f"%{statement.result} = arith.constant {statement.value} : index"
        case Number():
            left, right = statement.operands
            yield f"%{statement.result} = arith.{statement.kind} %{left}, %{right} : index"
        case Loop():
            low, high, step = statement.bounds
            yield (
                f"%{statement.result} = scf.for %{statement.induction} = %{low} to %{high} step %{step} "
                f"iter_args(%{statement.carried} = %{statement.start}) -> ({statement.type}) {{"
            )
            yield from _body(statement.body, "  ")
            yield f"  scf.yield %{statement.value} : {statement.type}"
            yield "}"
        case Branch():
            yield from _branch(statement)
        case Call():
            operands = ", ".join(f"%{name}" for name in statement.operands)
            types = ", ".join(statement.types)
            yield (
                f"%{statement.result} = func.call @{statement.callee}({operands}) : "
                f"({types}) -> {statement.result_type}"
            )


def _branch(statement: Branch) -> Iterator[str]:
    left, right = statement.operands
    condition = f"{statement.result}c"
    yield f"%{condition} = arith.cmpi {statement.predicate}, %{left}, %{right} : index"
    if statement.select:
        yield (
            f"%{statement.result} = arith.select %{condition}, %{statement.then[1]}, "
            f"%{statement.otherwise[1]} : {statement.type}"
        )
        return
    yield f"%{statement.result} = scf.if %{condition} -> ({statement.type}) {{"
    for (body, value), end in ((statement.then, "} else {"), (statement.otherwise, "}")):
        yield from _body(body, "  ")
        yield f"  scf.yield %{value} : {statement.type}"
        yield end


def _op(op: Op) -> Iterator[str]:
    operands = ", ".join(f"%{name}" for name in op.operands)
    types = ", ".join(op.types)
    if len(set(op.types)) == 1 and op.kind != "linear_transform":
        types = op.types[0]
    match op.kind:
        case "encode":
            tensor = f"tensor<{len(op.values)}xf64>"
            yield f"%{op.result}v = arith.constant dense<{dense(op.values)}> : {tensor}"
            yield f"%{op.result} = ckks.encode %{op.result}v : {tensor} -> {op.result_type}"
        case "linear_transform":
            size = len(op.values) // op.rows
            tensor = f"tensor<{op.rows}x{size}xf64>"
            rows = [op.values[i * size : (i + 1) * size] for i in range(op.rows)]
            matrix = ", ".join(dense(row) for row in rows)
            yield f"%{op.result}m = arith.constant dense<[{matrix}]> : {tensor}"
            given = ""
            if op.diagonals is not None:
                given = f" {{diagonals = array<i64: {', '.join(map(str, op.diagonals))}>}}"
            yield (
                f"%{op.result} = ckks.linear_transform {operands}, %{op.result}m{given} : "
                f"{types}, {tensor}"
            )
        case _:
            result = f" -> {op.result_type}" if op.kind == "adopt_scale" else ""
            yield f"%{op.result} = ckks.{op.kind} {operands}{_properties(op)} : {types}{result}"


def _properties(op: Op) -> str:
    match op.kind:
        case "rotate":
            given = [f"steps = {op.count}"]
        case "sum_slots":
            given = [f"count = {op.count}"]
        case "mod_switch":
            given = [f"levels = {op.count}"] if op.count else []
        case "adopt_scale":
            given = [f"tolerance = {op.tolerance:.7f} : f64"]
        case "polynomial":
            given = [f"coefficients = dense<{dense(op.values)}> : tensor<{len(op.values)}xf64>"]
            given += [f'basis = "{op.basis}"'] if op.basis else []
            if op.domain is not None:
                given.append(f"domain = array<f64: {op.domain[0]!r}, {op.domain[1]!r}>")
        case _:
            given = []
    return f" {{{', '.join(given)}}}" if given else ""


def dense(values: Sequence[float]) -> str:
    """The numbers of a dense vector."""
    return f"[{', '.join(map(repr, values))}]"
