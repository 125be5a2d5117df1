module attributes {ckks.params = #ckks.params<ring_degree = 65536, q = [351797249, 351404033, 350617601, 350355457, 349962241, 347996161, 347078657, 344850433, 340000769, 337248257, 336855041, 336068609, 335413249, 332660737, 332267521, 330301441, 329777153, 329515009, 328728577, 327548929, 325844993, 323878913, 323223553, 323092481, 319291393, 319160321, 316538881, 314966017, 313655297, 311427073, 309460993, 308150273], p = [352714753], digits = 32, scale = 2**20, secret = ternary, insecure>} {
func.func @row(%x : !rns.poly<65536, q 0:32, components = 8, coefficient>) -> !rns.poly<65536, q 0:32, components = 8, evaluation(?)> {
  %r = ntt.forward %x : !rns.poly<65536, q 0:32, components = 8, coefficient>
  return %r : !rns.poly<65536, q 0:32, components = 8, evaluation(?)>
}
}
