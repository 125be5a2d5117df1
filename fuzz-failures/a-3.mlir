// check: three slots
// not one clean error: error: pass 'select-parameters' failed: internal error: ValueError: operands could not be broadcast together with shapes (8,2046) (8,2048)
// from: a/11/broken
// again: python -m tests.fuzz_programs --only NAME
module {
func.func @f(%x : !ckks.ciphertext {ckks.slots = 3 : i64}, %p : !ckks.plaintext) -> (!ckks.ciphertext) {
  %v1m = arith.constant dense<[[0.1385, 0.313, -0.5, -0.118], [0.5, -0.5, 0.5, 0.078], [0.2125, -0.5, 0.5, -0.5], [-0.089, 0.25, 0.4785, 0.1875]]> : tensor<4x4xf64>
  %v1 = ckks.linear_transform %x, %v1m : !ckks.ciphertext, tensor<4x4xf64>
  return %v1 : !ckks.ciphertext
}
}
