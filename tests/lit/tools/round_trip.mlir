// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC
// RUN: fhelium-opt %s --print-generic | fhelium-opt - | filecheck %s
// RUN: fhelium-opt %s > %t.once && fhelium-opt %t.once > %t.twice && diff %t.once %t.twice

// CHECK-LABEL: func.func @sum(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT:    %c = arith.addi %a, %b : i32
// CHECK-NEXT:    func.return %c : i32
// CHECK-NEXT:  }

// GENERIC:      "func.func"() <{sym_name = "sum", function_type = (i32, i32) -> i32}> ({
// GENERIC-NEXT: ^{{.*}}(%a: i32, %b: i32):
// GENERIC-NEXT:   %c = "arith.addi"(%a, %b) <{overflowFlags = #arith.overflow<none>}>
func.func @sum(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
