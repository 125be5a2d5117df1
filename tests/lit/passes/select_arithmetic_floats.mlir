// RUN: fhelium-opt %s -p 'select-arithmetic{arithmetic=fp64}' --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

// Words that are doubles are chosen by name. Both primes are just below 2^50.
// CHECK: rns.arithmetic = #rns.arithmetic<fp64>
// REMARKS: remark: [select-arithmetic] applied: 'builtin.module': fp64, as stated
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937], p = [1125899906840833], digits = 1, scale = 2**40, secret = ternary, insecure>} {
}
