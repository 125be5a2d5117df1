// Each part has one error, reported at its line in the whole file; the parts without one still print.
// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err
// RUN: filecheck %s --check-prefix=OUT < %t.out
// RUN: not fhelium-opt %s --split-input-file -o %t.unwritten 2> %t.err
// RUN: not ls %t.unwritten

// OUT:      func.func private @before()
// OUT:      // -----
// OUT-NEXT: builtin.module {
// OUT-NEXT:   func.func private @after()
func.func private @before() -> ()

// -----

// CHECK:      parse_errors.mlir:[[# @LINE + 4]]:23: error: value %missing is used but never defined
// CHECK-NEXT:   %b = arith.addi %a, %missing : i32
// CHECK-NEXT:                       ^
func.func @undefined(%a: i32) -> i32 {
  %b = arith.addi %a, %missing : i32
  return %b : i32
}

// -----

// CHECK:      parse_errors.mlir:[[# @LINE + 4]]:8: error: 'arith.addi': %c is used before its definition (at {{.*}}parse_errors.mlir:[[# @LINE + 5]]:8)
// CHECK-NEXT:   %b = arith.addi %a, %c : i32
// CHECK-NEXT: {{^       \^$}}
func.func @late(%a: i32) -> i32 {
  %b = arith.addi %a, %c : i32
  %c = arith.addi %a, %a : i32
  return %b : i32
}

// -----

// CHECK:      parse_errors.mlir:[[# @LINE + 4]]:3: error: 'func.return': {{.*}}expected [i32], got [i64]
// CHECK-NEXT:   return %a : i64
// CHECK-NEXT:   ^
func.func @verifier(%a: i64) -> i32 {
  return %a : i64
}

// -----

// CHECK: parse_errors.mlir:[[# @LINE + 1]]:31: error: unknown type 'nothing.type'
func.func private @type() -> (!nothing.type)

// -----

// CHECK: parse_errors.mlir:[[# @LINE + 3]]:8: error: unknown operation 'arith.addy'; did you mean 'arith.addi'?
// CHECK-NEXT:   %b = arith.addy %a, %a : i32
func.func @op(%a: i32) -> i32 {
  %b = arith.addy %a, %a : i32
  return %b : i32
}

// -----

// CHECK: parse_errors.mlir:[[# @LINE + 2]]:1: error: expected an operation
func.func private @brackets() -> ()
}

// CHECK-NOT: error:

// -----

func.func private @after() -> ()
