// Remarks are diagnostics where --remarks selects them.
// RUN: fhelium-opt %s -p ckks-check --verify-diagnostics --remarks=analysis -o %t.mlir
// RUN: not fhelium-opt %s -p ckks-check --verify-diagnostics -o %t.mlir 2>&1 | filecheck %s
// CHECK: verify_diagnostics_remarks.mlir:12:6: error: expected remark "output 0 (%x) of @f" was not produced on line 13

!ct = !ckks.ciphertext<level = 1, scale = 2**40>
module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {

func.func @f(%x : !ct) -> !ct {
  // expected-remark @+1 {{output 0 (%x) of @f}}
  return %x : !ct
}
}
