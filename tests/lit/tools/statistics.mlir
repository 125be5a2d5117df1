// RUN: fhelium-opt %s -p cse,dce --pass-statistics --time-passes -o %t.mlir 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK:      ===== pass statistics =====
// CHECK-NEXT: {{^}}cse
// CHECK-NEXT:   arith           4 ->      2
// CHECK-NEXT:   all ops         7 ->      5
// CHECK-NEXT: {{^}}dce
// CHECK-NEXT:   all ops         5 ->      5
// CHECK-NEXT: ===== time in seconds =====
// CHECK-NEXT: {{ *[0-9.]+ +100.0 %}}  total
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}    parse
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}    verify the input
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}    passes
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}      run
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}        cse
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}        dce
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}      verify
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}        after cse
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}        after dce
// CHECK-NEXT: {{ *[0-9.]+ +[0-9.]+ %}}    output

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %unused = arith.muli %a, %b : i32
  %d = arith.muli %b, %c : i32
  return %d : i32
}
