// RUN: fhelium-opt %s -p ckks-check --remarks all 2>&1 | filecheck %s
// RUN: fhelium-opt %s > %t.before && fhelium-opt %s -p ckks-check > %t.after && diff %t.before %t.after

// Four digits of 5 primes would hold 2 primes each: three are enough.
// CHECK: ckks_check.mlir:[[# @LINE + 1]]:1: remark: [ckks-check] analysis: 'builtin.module': key switching uses 3 digits instead of 4: 5 primes make 3 digits of 2
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113, 193, 241, 257], p = [337, 353], digits = 4, scale = 2**5, secret = ternary, insecure>} {
// 2 * 2**5 * (1.5 + 0.25 * 1) = 112 is below q0 * q1 = 10961 by 6.6 bits.
// CHECK: ckks_check.mlir:[[# @LINE + 6]]:3: remark: [ckks-check] analysis: 'func.return': output 0 (%b) of @f: |value| <= 1.75, headroom 6.6 bits
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**3> {ckks.range = 0.25 : f64}, %y : !ckks.ciphertext<level = 1, scale = 2**2>, %z : !ckks.ciphertext<level = 1, scale = 2**5> {ckks.range = 1.5 : f64, ckks.slots = 4 : i64}) -> !ckks.ciphertext<level = 1, scale = 2**5> {
  %a = ckks.mul %x, %y : !ckks.ciphertext<level = 1, scale = 2**3>, !ckks.ciphertext<level = 1, scale = 2**2>
  %r = ckks.relinearize %a : !ckks.ciphertext<level = 1, scale = 2**5, size = 3>
  %n = ckks.negate %z : !ckks.ciphertext<level = 1, scale = 2**5>
  %b = ckks.sub %r, %n : !ckks.ciphertext<level = 1, scale = 2**5>
  return %b : !ckks.ciphertext<level = 1, scale = 2**5>
}
}
