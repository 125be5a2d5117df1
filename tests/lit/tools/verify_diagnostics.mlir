// RUN: fhelium-opt %s --split-input-file --verify-diagnostics -p cse -o %t.mlir 2> %t.err
// RUN: filecheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: not fhelium-opt %s --split-input-file -p cse 2>&1 | filecheck %s

// Without the option the errors are reported as usual.
// CHECK: verify_diagnostics.mlir:13:10: error: value %b is used but never defined
// SILENT-NOT: {{.}}

// expected-error @below {{expected an operation}}
)
// -----
func.func @undefined(%a: i32) -> i32 {
  return %b : i32 // expected-error {{%b is used but never defined}}
}
// -----
// expected-error-re @+2 {{unknown operation 'arith.{{[a-z]+}}'; did you mean}}
func.func @unknown(%a: i32) -> i32 {
  %b = arith.adi %a, %a : i32
  return %b : i32
}
// -----
func.func @verifier(%a: i32) -> i64 {
  return %a : i32
  // expected-error @above {{Expected arguments to have the same types}}
}
// -----
func.func @fine() {
  return
}
