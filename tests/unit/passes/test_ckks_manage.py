import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.remarks import collect_remarks
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.ckks_manage import CkksManage
from fhelium_ir.scale import Scale
from fhelium_ir.universe import make_context

PARAMS = (
    "#ckks.params<ring_degree = 8, q = [97, 113, 193], p = [257], digits = 3, scale = 2**5, "
    "secret = ternary, insecure>"
)


def managed(function: str) -> ModuleOp:
    text = f"module attributes {{ckks.params = {PARAMS}}} {{\n{function}\n}}"
    module = parse_module(make_context(), text)
    verify_module(module)
    CkksManage().apply(make_context(), module)
    verify_module(module)
    return module


def facts(module: ModuleOp) -> dict[str, ckks.CiphertextFacts | ckks.PlaintextFacts]:
    """Facts of every value by name, with those of the arguments."""
    out: dict[str, ckks.CiphertextFacts | ckks.PlaintextFacts] = {}
    for op in module.walk():
        values = list(op.results)
        if isinstance(op, func.FuncOp):
            values = list(op.args)
        for value in values:
            if isinstance(value.type, ckks.CiphertextType | ckks.PlaintextType):
                out[value.name_hint or ""] = value.type.data
    return out


def test_an_absent_size_and_domain_get_defaults() -> None:
    module = managed(
        "func.func @f(%x : !ckks.ciphertext<size = ?, domain = ?>, "
        "%p : !ckks.plaintext<domain = ?>) { return }"
    )
    assert facts(module) == {
        "x": ckks.CiphertextFacts(2, Scale(5), 2, "evaluation"),
        "p": ckks.PlaintextFacts(2, Scale(5), "evaluation"),
    }


def test_a_sum_of_products_with_constants() -> None:
    module = managed(
        """func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
             %v = arith.constant dense<0.5> : tensor<1xf64>
             %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
             %q = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
             %low = ckks.rescale %x : !ckks.ciphertext
             %square = ckks.mul %low, %low : !ckks.ciphertext
             %scaled = ckks.mul_plain %square, %p : !ckks.ciphertext, !ckks.plaintext
             %sum = ckks.add_plain %scaled, %q : !ckks.ciphertext, !ckks.plaintext
             return %sum : !ckks.ciphertext
           }"""
    )
    scale = Scale(15, ((2, -2),))
    assert facts(module) == {
        "x": ckks.CiphertextFacts(2, Scale(5)),
        "low": ckks.CiphertextFacts(1, Scale(5, ((2, -1),))),
        "square": ckks.CiphertextFacts(1, Scale(10, ((2, -2),)), 3),
        "p": ckks.PlaintextFacts(1, Scale(5)),
        "scaled": ckks.CiphertextFacts(1, scale, 3),
        "q": ckks.PlaintextFacts(1, scale),
        "sum": ckks.CiphertextFacts(1, scale, 3),
    }
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    output = ckks.CiphertextType(ckks.CiphertextFacts(1, scale, 3))
    assert list(function.function_type.outputs) == [output]


def test_one_constant_for_users_that_agree() -> None:
    module = managed(
        """func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext<scale = 2**7>) {
             %v = arith.constant dense<0.5> : tensor<1xf64>
             %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
             %a = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
             %b = ckks.mul_plain %y, %p : !ckks.ciphertext<scale = 2**7>, !ckks.plaintext
             %c = ckks.add_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
             return
           }"""
    )
    assert facts(module)["p"] == ckks.PlaintextFacts(2, Scale(5))
    assert facts(module)["b"] == ckks.CiphertextFacts(2, Scale(12))


def test_users_that_disagree_are_named() -> None:
    with pytest.raises(FheliumError) as caught:
        managed(
            """func.func @f(%x : !ckks.ciphertext<scale = 2**7>) {
                 %v = arith.constant dense<0.5> : tensor<1xf64>
                 %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
                 %a = ckks.add_plain %x, %p : !ckks.ciphertext<scale = 2**7>, !ckks.plaintext
                 %b = ckks.mul_plain %x, %p : !ckks.ciphertext<scale = 2**7>, !ckks.plaintext
                 return
               }"""
        )
    assert caught.value.location == "<input>:6:23"
    assert "ckks.mul_plain: the encoded constant" in caught.value.message
    assert "for ckks.add_plain at <input>:5:23" in caught.value.message


def test_a_failed_run_changes_nothing() -> None:
    text = f"""module attributes {{ckks.params = {PARAMS}}} {{
      func.func @good(%x : !ckks.ciphertext) {{ return }}
      func.func @bad(%x : !ckks.ciphertext<level = 0>) {{
        %y = "ckks.rescale"(%x) : (!ckks.ciphertext<level = 0>) -> !ckks.ciphertext
        return
      }}
    }}"""
    module = parse_module(make_context(), text)
    before = str(module)
    with pytest.raises(FheliumError, match="a ciphertext at level 0 has no prime to give up"):
        CkksManage().apply(make_context(), module)
    assert str(module) == before


def test_scales_that_grow_without_end_are_an_error_at_their_op() -> None:
    lines = ["%r0 = ckks.negate %x : !ckks.ciphertext"]
    for i in range(130):
        lines += [
            f"%s{i} = ckks.mul %r{i}, %r{i} : !ckks.ciphertext",
            f"%r{i + 1} = ckks.relinearize %s{i} : !ckks.ciphertext",
        ]
    body = "\n".join(lines)
    with pytest.raises(FheliumError, match="an exponent beyond") as caught:
        managed(f"func.func @f(%x : !ckks.ciphertext) {{\n{body}\nreturn\n}}")
    # 5 * 2**125 is below 2**128 and 5 * 2**126 above: squaring number 126 stands in line 3 + 2 * 125 + 1.
    assert caught.value.location is not None
    assert caught.value.location.startswith("<input>:254:")


def test_remarks_name_what_was_decided_and_only_that() -> None:
    with collect_remarks() as remarks:
        module = managed(
            "func.func @f(%x : !ckks.ciphertext<level = 1>, "
            "%y : !ckks.ciphertext<level = 1, scale = 2**3>) { return }"
        )
        CkksManage().apply(make_context(), module)
    assert [remark.text for remark in remarks] == ["%x gets level 1 and scale 2**5"]


def test_other_stages_are_left_alone() -> None:
    module = managed("func.func @f(%x : i32) -> i32 { return %x : i32 }")
    assert "func.func @f(%x: i32) -> i32" in str(module)
