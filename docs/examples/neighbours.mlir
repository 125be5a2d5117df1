// Adds to each slot of an encrypted vector its right neighbour. The ring is far too small to be secure.
module attributes {ckks.params = #ckks.params<
  ring_degree = 16, q = [536870657, 536870561], p = [536870849],
  digits = 2, scale = 2**20, secret = ternary, insecure>,
  rns.arithmetic = #rns.arithmetic<mont32>} {

func.func @neighbours(%x : !ckks.ciphertext<level = 1>) -> !ckks.ciphertext<level = 1> {
  %turned = ckks.rotate %x {steps = 1} : !ckks.ciphertext<level = 1>
  %sum = ckks.add %x, %turned : !ckks.ciphertext<level = 1>
  return %sum : !ckks.ciphertext<level = 1>
}

}
