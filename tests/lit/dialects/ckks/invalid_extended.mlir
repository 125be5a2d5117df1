// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

!ct = !ckks.ciphertext<level = 1, scale = 2**40>
!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
func.func @add(%x : !ct, %y : !ext) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.add: only the right operand is extended; extend the other one by ckks.extend, or divide by ckks.mod_down
  %r = ckks.add %x, %y : !ct, !ext
  return
}

// -----

!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
func.func @mul(%x : !ext) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.mul: an operand is extended, that is, P times a ciphertext; divide it by ckks.mod_down first
  %r = ckks.mul %x, %x : !ext
  return
}

// -----

!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
func.func @rotate(%x : !ext) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.rotate: an operand is extended
  %r = ckks.rotate %x {steps = 1} : !ext
  return
}

// -----

!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
func.func @twice(%x : !ext) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.extend: an operand is extended
  %r = ckks.extend %x : !ext
  return
}

// -----

!ct = !ckks.ciphertext<level = 1, scale = 2**40>
func.func @mod_down(%x : !ct) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.mod_down: the operand is not extended
  %r = ckks.mod_down %x : !ct
  return
}

// -----

!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
!pt = !ckks.plaintext<level = 1, scale = 2**40>
func.func @factor(%x : !ext, %p : !pt) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.mul_plain: the ciphertext is extended, the plaintext is not
  %r = ckks.mul_plain %x, %p : !ext, !pt
  return
}

// -----

!ext = !ckks.ciphertext<level = 1, scale = 2**40, extended>
!pt = !ckks.plaintext<level = 1, scale = 2**40, extended>
func.func @term(%x : !ext, %p : !pt) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ckks.add_plain: an extended plaintext is a factor only
  %r = ckks.add_plain %x, %p : !ext, !pt
  return
}

// -----

!ct = !ckks.ciphertext<level = 1, scale = 2**40>
func.func @result(%x : !ct) {
  // CHECK: invalid_extended.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}the result's extended does not follow from the operands
  %r = ckks.rotate %x {steps = 1, extended} : !ct -> !ct
  return
}
