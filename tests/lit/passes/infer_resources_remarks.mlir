// RUN: fhelium-opt %s -p ckks-manage,convert-ckks-to-rns,place-domains,hoist-rotations,select-arithmetic,select-ntt-schedules,track-montgomery,form-fusion-regions,tune-ntt-schedules,infer-resources --remarks=all -o %t.mlir 2> %t.err
// RUN: filecheck %s < %t.err

// The first transform of a relinearization takes a product at exponent 1 and lowers it with N^-1 at exponent 0. The one of
// ModDown takes exponent 0 and keeps it, so its N^-1 has one exponent more: two tables. Factors with quotients are plain.
// CHECK:      :{{15:9|16:8}}: remark: [infer-resources] applied: 'resource.declare': @shoup_inverse_degree_0 needs 96 bytes
// CHECK-NOT:  [infer-resources] missed
// CHECK:      :16:8: remark: [infer-resources] applied: 'resource.declare': @shoup_inverse_degree_1 needs 96 bytes
// CHECK-NEXT: :16:8: remark: [infer-resources] missed: 'resource.declare': @shoup_inverse_degree_1 cannot be shared with @shoup_inverse_degree_0: its exponent is 0, the other's -1
// CHECK-NOT:  [infer-resources] missed
module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %xy = ckks.mul %x, %y : !ckks.ciphertext
  %r = ckks.relinearize %xy : !ckks.ciphertext
  %s = ckks.rescale %r : !ckks.ciphertext
  %t = ckks.rotate %s {steps = 1} : !ckks.ciphertext
  %u = ckks.add %s, %t : !ckks.ciphertext
  return %u : !ckks.ciphertext
}
}
