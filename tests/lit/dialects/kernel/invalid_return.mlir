// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A return ends a kernel and nothing else.
// CHECK: invalid_return.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}kernel.func
func.func @f() {
  kernel.return
}
