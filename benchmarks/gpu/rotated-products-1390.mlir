module attributes {ckks.params = #ckks.params<ring_degree = 65536, q = [901924481007617, 901924479172609, 901924474060801, 901924473929729, 901924472094721, 901924470915073, 901924469211137, 901924466589697, 901924465672193, 901924464885761, 901924462919681, 901924462264321, 901924457807873, 901924452827137, 901924447322113, 901924444569601, 901924442603521, 901924439851009, 901924435787777, 901924422942721, 901924422418433, 901924422025217, 901924420452353, 901924420059137, 901924419010561, 901924418093057, 901924417437697, 901924409835521], p = [901924497129473, 901924494114817, 901924491624449, 901924489265153, 901924486905857, 901924483366913, 901924481138689], digits = 4, scale = 2**48, secret = ternary>} {
func.func @row(%x : !ckks.ciphertext<level = 27, scale = 2**24> {ckks.range = 0.0078125 : f64}) -> !ckks.ciphertext<level = 27, scale = 2**48> {
  %c0 = arith.constant dense<[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.0]> : tensor<8xf64>
  %e0 = ckks.encode %c0 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t0 = ckks.rotate %x {steps = 1} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m0 = ckks.mul_plain %t0, %e0 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %c1 = arith.constant dense<[0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.0, 0.125]> : tensor<8xf64>
  %e1 = ckks.encode %c1 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t1 = ckks.rotate %x {steps = 2} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m1 = ckks.mul_plain %t1, %e1 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s1 = ckks.add %m0, %m1 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c2 = arith.constant dense<[0.25, 0.375, 0.5, 0.625, 0.75, 0.0, 0.125, 0.25]> : tensor<8xf64>
  %e2 = ckks.encode %c2 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t2 = ckks.rotate %x {steps = 3} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m2 = ckks.mul_plain %t2, %e2 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s2 = ckks.add %s1, %m2 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c3 = arith.constant dense<[0.375, 0.5, 0.625, 0.75, 0.0, 0.125, 0.25, 0.375]> : tensor<8xf64>
  %e3 = ckks.encode %c3 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t3 = ckks.rotate %x {steps = 4} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m3 = ckks.mul_plain %t3, %e3 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s3 = ckks.add %s2, %m3 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c4 = arith.constant dense<[0.5, 0.625, 0.75, 0.0, 0.125, 0.25, 0.375, 0.5]> : tensor<8xf64>
  %e4 = ckks.encode %c4 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t4 = ckks.rotate %x {steps = 5} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m4 = ckks.mul_plain %t4, %e4 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s4 = ckks.add %s3, %m4 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c5 = arith.constant dense<[0.625, 0.75, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625]> : tensor<8xf64>
  %e5 = ckks.encode %c5 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t5 = ckks.rotate %x {steps = 6} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m5 = ckks.mul_plain %t5, %e5 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s5 = ckks.add %s4, %m5 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c6 = arith.constant dense<[0.75, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75]> : tensor<8xf64>
  %e6 = ckks.encode %c6 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t6 = ckks.rotate %x {steps = 7} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m6 = ckks.mul_plain %t6, %e6 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %s6 = ckks.add %s5, %m6 : !ckks.ciphertext<level = 27, scale = 2**48>
  %c7 = arith.constant dense<[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.0]> : tensor<8xf64>
  %e7 = ckks.encode %c7 : tensor<8xf64> -> !ckks.plaintext<level = 27, scale = 2**24>
  %t7 = ckks.rotate %x {steps = 8} : !ckks.ciphertext<level = 27, scale = 2**24>
  %m7 = ckks.mul_plain %t7, %e7 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.plaintext<level = 27, scale = 2**24>
  %r = ckks.add %s6, %m7 : !ckks.ciphertext<level = 27, scale = 2**48>
  return %r : !ckks.ciphertext<level = 27, scale = 2**48>
}
}
