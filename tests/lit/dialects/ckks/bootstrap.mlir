// RUN: not fhelium-opt %s 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: bootstrap.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.bootstrap is not supported: there is no bootstrapping
func.func @deep(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.bootstrap %x : !ckks.ciphertext
  return %y : !ckks.ciphertext
}
