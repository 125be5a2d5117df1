// A missing error, an unexpected one, one on the wrong line, and a malformed expectation.
// RUN: not fhelium-opt %s --split-input-file --verify-diagnostics -o %t.mlir 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK:      verify_diagnostics_fails.mlir:12:4: error: expected error "never said" was not produced on line 13
// CHECK:      verify_diagnostics_fails.mlir:18:10: error: unexpected error: value %b is used but never defined
// CHECK:      verify_diagnostics_fails.mlir:24:10: error: unexpected error: value %b is used but never defined
// CHECK:      verify_diagnostics_fails.mlir:23:4: error: expected error "%b is used but never defined" was not produced on line 23
// CHECK:      verify_diagnostics_fails.mlir:27:4: error: malformed expectation 'expected{{-}}error @sideways
// CHECK-NOT:  was not produced

// expected-error @+1 {{never said}}
func.func @missing() {
  return
}
// -----
func.func @unexpected(%a: i32) -> i32 {
  return %b : i32
}
// -----
func.func @place(%a: i32) -> i32 {

// expected-error @+0 {{%b is used but never defined}}
  return %b : i32
}
// -----
// expected-error @sideways {{x}}
func.func @malformed() {
  return
}
