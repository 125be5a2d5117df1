// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A composite modulus: 161 = 7 * 23 is 1 modulo 16.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 161 in q is not prime
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 161], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A strong pseudoprime to base 2 is composite too: 49141 = 157 * 313.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 49141 in p is not prime
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [49141], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A repeated modulus.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 97 is repeated in q
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113, 97], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A repeated special prime.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 257 is repeated in p
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257, 257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A prime that is not 1 modulo 2N has no negacyclic transform.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 101 in q is not 1 modulo 16
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 101], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A modulus in both Q and P.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 113 stands in both q and p
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257, 113], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A modulus beyond every arithmetic: 2^62 + 1 and more.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: modulus 4611686018427388097 in q is not between 3 and 2^62
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 4611686018427388097], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// No modulus.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: parameters need at least one prime in q and one in p
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// The ring degree is a power of two.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ring degree 12 is not a power of two from 8 to 131072
module attributes {ckks.params = #ckks.params<ring_degree = 12, q = [97, 113], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {}

// -----

// A digit for each prime at most.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: digits = 3 is not between 1 and 2 primes
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257], digits = 3, scale = 2**5, secret = ternary, insecure>} {}

// -----

// The special primes cover a digit.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: the special primes (6.6 bits) are smaller than the digit that starts at q0 (14.8 bits)
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [113, 241], p = [97], digits = 1, scale = 2**5, secret = ternary, insecure>} {}

// -----

// The default scale is a power of two.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: the default scale is a power of two
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257], digits = 2, scale = 3 * 2**4, secret = ternary, insecure>} {}

// -----

// Secrets are ternary.
// CHECK: invalid_params.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'ternary'
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113], p = [257], digits = 2, scale = 2**5, secret = gaussian, insecure>} {}
