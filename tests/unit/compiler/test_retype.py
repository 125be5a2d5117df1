import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import SSAValue

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.universe import make_context

TEXT = """
func.func @f(%x : i32, %y : i32) -> (i32, i32) {
  %a, %b = "test.op"(%x) ({
  ^bb0(%inner : i32):
    %c = "test.op"(%inner, %y) : (i32, i32) -> i32
    "test.termop"(%c) : (i32) -> ()
  }) : (i32) -> (i32, i32)
  return %a, %y : i32, i32
}
func.func private @declared(i32) -> i32
"""


def named(module: ModuleOp) -> dict[str, SSAValue]:
    values: dict[str, SSAValue] = {}
    for op in module.walk():
        blocks = [block for region in op.regions for block in region.blocks]
        for value in (*op.results, *(arg for block in blocks for arg in block.args)):
            values[value.name_hint or ""] = value
    return values


def functions(module: ModuleOp) -> list[func.FuncOp]:
    return [op for op in module.ops if isinstance(op, func.FuncOp)]


def test_values_arguments_and_signatures_change_together() -> None:
    module = parse_module(make_context(), TEXT)
    ops = list(module.walk())
    before = named(module)
    commit_types(module, {before[name]: i64 for name in ("x", "a", "inner", "c")})
    verify_module(module)
    after = named(module)
    assert {name for name, value in after.items() if value.type == i64} == {"x", "a", "inner", "c"}
    assert list(module.walk()) == ops
    defined, declared = functions(module)
    assert list(defined.function_type.inputs) == [i64, i32]
    assert list(defined.function_type.outputs) == [i64, i32]
    assert list(declared.function_type.inputs) == [i32]
    assert [operand.type for operand in ops[3].operands] == [i64, i32]


def test_values_whose_type_stays_are_the_same_objects() -> None:
    module = parse_module(make_context(), TEXT)
    before = named(module)
    signature = functions(module)[0].function_type
    commit_types(module, {value: value.type for value in before.values()})
    assert named(module) == before
    assert functions(module)[0].function_type is signature


def test_a_stale_key_is_an_error() -> None:
    module = parse_module(make_context(), TEXT)
    values = named(module)
    commit_types(module, {values["a"]: i64})
    with pytest.raises(ValueError, match="1 retyped values are not values of the module"):
        commit_types(module, {values["a"]: i32, values["b"]: i64})
