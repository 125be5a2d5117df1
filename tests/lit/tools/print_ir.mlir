// Dumps go to standard error, the result to standard output.
// RUN: fhelium-opt %s -p cse,dce,canonicalize --print-ir-before cse --print-ir-after dce -o %t.mlir 2> %t.err
// RUN: filecheck %s < %t.err
// RUN: fhelium-opt %s -p cse,dce --print-ir-after-change -o %t.mlir 2> %t.err
// RUN: filecheck %s --check-prefix=DIFF < %t.err
// RUN: fhelium-opt %s -p cse,dce --print-ir-before-all --print-ir-after-all 2>&1 >/dev/null | grep -c "IR Dump" > %t.count
// RUN: filecheck %s --check-prefix=COUNT < %t.count
// RUN: rm -rf %t.dir && fhelium-opt %s -p cse,dce --dump-dir %t.dir/deep -o %t.mlir && ls %t.dir/deep > %t.list
// RUN: filecheck %s --check-prefix=LIST < %t.list && cmp %t.mlir %t.dir/deep/02-dce.mlir

// CHECK:      // -----// IR Dump Before cse (1 of 3) //----- //
// CHECK-NEXT: builtin.module {
// CHECK:        arith.addi
// CHECK-NEXT:   arith.addi
// CHECK:      // -----// IR Dump After dce (2 of 3) //----- //
// CHECK-NEXT: builtin.module {
// CHECK:        arith.addi
// CHECK-NEXT:   arith.muli
// CHECK-NOT:  IR Dump

// DIFF:      --- before cse
// DIFF-NEXT: +++ after cse
// DIFF-NEXT: @@ -1,8 +1,7 @@
// DIFF-NEXT: {{^}} builtin.module {
// DIFF-NEXT: {{^}}   func.func @f(%a: i32) -> i32 {
// DIFF-NEXT: {{^}}     %b = arith.addi %a, %a : i32
// DIFF-NEXT: {{^}}-    %c = arith.addi %a, %a : i32
// DIFF-NEXT: {{^}}-    %d = arith.muli %b, %c : i32
// DIFF-NEXT: {{^}}+    %d = arith.muli %b, %b : i32
// DIFF-NEXT: {{^}}     func.return
// DIFF-NOT:  dce

// COUNT: {{^}}4

// LIST:      00-input.mlir
// LIST-NEXT: 01-cse.mlir
// LIST-NEXT: 02-dce.mlir

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  return %d : i32
}
