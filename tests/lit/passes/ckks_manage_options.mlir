// RUN: not fhelium-opt %s -p 'ckks-manage{start=middle}' 2>&1 | filecheck %s
// CHECK: error: ckks-manage: start must be needed or top, found middle

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
}
