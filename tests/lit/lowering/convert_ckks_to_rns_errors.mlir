// RUN: not fhelium-opt %s -p convert-ckks-to-rns --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: convert_ckks_to_rns_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: convert-ckks-to-rns: !ckks.ciphertext has absent facts; run ckks-manage first
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @absent(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  return %x : !ckks.ciphertext
}
}
// -----
// CHECK: convert_ckks_to_rns_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: convert-ckks-to-rns: !ckks.ciphertext<level = 2, scale = 2**40, domain = coefficient> is not in the evaluation domain
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @domain(%x : !ckks.ciphertext<level = 2, scale = 2**40, domain = coefficient>) -> !ckks.ciphertext<level = 2, scale = 2**40, domain = coefficient> {
  return %x : !ckks.ciphertext<level = 2, scale = 2**40, domain = coefficient>
}
}
// -----
// CHECK: convert_ckks_to_rns_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: convert-ckks-to-rns: !ckks.ciphertext<level = 3, scale = 2**40> is above the top level 2
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @level(%x : !ckks.ciphertext<level = 3, scale = 2**40>) -> !ckks.ciphertext<level = 3, scale = 2**40> {
  return %x : !ckks.ciphertext<level = 3, scale = 2**40>
}
}
// -----
// CHECK: convert_ckks_to_rns_errors.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: convert-ckks-to-rns: no lowering for test.op
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @unknown(%x : !ckks.ciphertext<level = 2, scale = 2**40>) -> !ckks.ciphertext<level = 2, scale = 2**40> {
  %z = "test.op"(%x) : (!ckks.ciphertext<level = 2, scale = 2**40>) -> !ckks.ciphertext<level = 2, scale = 2**40>
  return %z : !ckks.ciphertext<level = 2, scale = 2**40>
}
}
// -----
// CHECK: convert_ckks_to_rns_errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: the module has no `ckks.params` attribute
func.func @parameters(%x : !ckks.ciphertext<level = 0, scale = 2**40>) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  return %x : !ckks.ciphertext<level = 0, scale = 2**40>
}

// -----

module attributes {ckks.params = #ckks.params<
  ring_degree = 8, q = [97, 113], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: error: convert-ckks-to-rns: !ckks.ciphertext<level = 1, scale = 2**5, extended> is extended and crosses the interface of the function
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**5, extended>) {
  return
}
}
