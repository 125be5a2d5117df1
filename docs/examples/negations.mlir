func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.negate %x : !ckks.ciphertext
  %z = ckks.negate %y : !ckks.ciphertext
  return %z : !ckks.ciphertext
}
