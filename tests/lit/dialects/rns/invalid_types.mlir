// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: ring degree 12 is not a power of two from 8
func.func private @f(!rns.poly<12, q 0:2, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: ring degree 262144 is not a power of two from 8
func.func private @f(!rns.poly<262144, q 0:2, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: a bundle has 1 to 64 components
func.func private @f(!rns.poly<8192, q 0:2, components = 65, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: a bundle has 1 to 64 components
func.func private @f(!rns.poly<8192, q 0:2, components = 0, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: a digit has at least one limb
func.func private @f(!rns.poly<8192, q 0:2, digits = own(0), coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: only keys have digits and several components
func.func private @f(!rns.poly<8192, q 0:2, components = 2, digits = own(1), coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: digits are made of limbs of q
func.func private @f(!rns.poly<8192, q 0:2 p 0:1, digits = own(1), coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: `below` is at least 1
func.func private @f(!rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 0)>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a range of primes is not empty
func.func private @f(!rns.poly<8192, q 2:2, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: expected a basis such as `q 0:2 p 0:1`
func.func private @f(!rns.poly<8192, coefficient>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'bit_reversed'
func.func private @f(!rns.poly<8192, q 0:2, evaluation(natural)>)

// -----

// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of {{.*}}mont32
func.func private @f(!rns.poly<8192, q 0:2, coefficient, shoup(e = 0, below = 1)>)

// CHECK-NOT: error:
