// RUN: not fhelium-opt %s -p 'select-parameters{ring-degree=4096}' 2>&1 | filecheck %s --check-prefix=SMALL
// RUN: fhelium-opt %s -p 'select-parameters{ring-degree=8192}' | filecheck %s --check-prefix=ENOUGH
// RUN: fhelium-opt %s -p 'select-parameters{ring-degree=4096 security=0}' | filecheck %s --check-prefix=INSECURE
// RUN: not fhelium-opt %s -p 'select-parameters{ring-degree=8}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not fhelium-opt %s -p 'select-parameters{ring-degree=1000}' 2>&1 | filecheck %s --check-prefix=POWER
// RUN: not fhelium-opt %s -p 'select-parameters{security=100}' 2>&1 | filecheck %s --check-prefix=SECURITY
// RUN: not fhelium-opt %s -p 'select-parameters{security=0}' 2>&1 | filecheck %s --check-prefix=DEGREE
// RUN: not fhelium-opt %s -p 'select-parameters{precision=0}' 2>&1 | filecheck %s --check-prefix=PRECISION
// RUN: not fhelium-opt %s -p 'select-parameters{precision=50}' 2>&1 | filecheck %s --check-prefix=HIGH
// RUN: not fhelium-opt %s -p 'select-parameters{max-bits=62}' 2>&1 | filecheck %s --check-prefix=BITS

// SMALL: select_parameters_errors.mlir:[[# @LINE + 8]]:1: error: select-parameters: ring degree 4096 is too small: 3 levels at scale 2**{{[0-9]+}} need log2(P*Q) = {{[0-9]+}} bits, above 106, its 128-bit limit
// ENOUGH: #ckks.params<ring_degree = 8192,
// INSECURE: #ckks.params<ring_degree = 4096, {{.*}}, insecure>
// UNKNOWN: error: select-parameters: no security limit is known for ring degree 8
// POWER: error: select-parameters: ring-degree must be a power of two from 8 to 131072, found 1000
// SECURITY: error: select-parameters: security must be 128 or 0, found 100
// DEGREE: error: select-parameters: security=0 needs a ring-degree
// PRECISION: error: select-parameters: precision must be positive, found 0
module {
// HIGH: error: select-parameters: ring degree 131072 needs a scale above 2**60, the size of the largest primes, for 50 bits of precision
// BITS: error: select-parameters: max-bits must be from 20 to 61, found 62
func.func @f(%x : !ckks.ciphertext {ckks.slots = 8 : i64}) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.mul %a, %a : !ckks.ciphertext
  %c = ckks.mul %b, %x : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
}
