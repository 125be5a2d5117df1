module attributes {ckks.params = #ckks.params<ring_degree = 65536, q = [901924481007617, 901924479172609, 901924474060801, 901924473929729, 901924472094721, 901924470915073, 901924469211137, 901924466589697, 901924465672193, 901924464885761, 901924462919681, 901924462264321, 901924457807873, 901924452827137, 901924447322113, 901924444569601, 901924442603521, 901924439851009, 901924435787777, 901924422942721, 901924422418433, 901924422025217, 901924420452353, 901924420059137, 901924419010561, 901924418093057, 901924417437697, 901924409835521], p = [901924497129473, 901924494114817, 901924491624449, 901924489265153, 901924486905857, 901924483366913, 901924481138689], digits = 4, scale = 2**48, secret = ternary>} {
func.func @row(%x : !ckks.ciphertext<level = 27, scale = 2**24> {ckks.range = 0.0078125 : f64}) -> (!ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>) {
  %r0 = ckks.rotate %x {steps = 1} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r1 = ckks.rotate %x {steps = 2} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r2 = ckks.rotate %x {steps = 3} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r3 = ckks.rotate %x {steps = 4} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r4 = ckks.rotate %x {steps = 5} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r5 = ckks.rotate %x {steps = 6} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r6 = ckks.rotate %x {steps = 7} : !ckks.ciphertext<level = 27, scale = 2**24>
  %r7 = ckks.rotate %x {steps = 8} : !ckks.ciphertext<level = 27, scale = 2**24>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>, !ckks.ciphertext<level = 27, scale = 2**24>
}
}
