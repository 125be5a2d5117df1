// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// One op, not two.
// CHECK: invalid_operation.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'host.operation': the body holds one op
host.operation @two "outside-library" (%a : !rns.poly<16, q 0:2, coefficient>) {
  %r = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
  %s = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
}

// -----

// Every argument, in order.
// CHECK: invalid_operation.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'host.operation': the op's operands are the arguments, in order
host.operation @turned "outside-library" (%a : !rns.poly<16, q 0:2, coefficient>, %b : !rns.poly<16, q 0:2, coefficient>) {
  %r = rns.sub %b, %a : !rns.poly<16, q 0:2, coefficient>
}

// -----

// In place needs equal types.
// CHECK: invalid_operation.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.call': in place, the first input and result have one type
func.func @main(%x : memref<2x16xi64>) {
  %s = host.call @negate_0(%x) resources () {in_place} : (memref<2x16xi64>) resources () -> (memref<4x16xi64>)
  return
}
