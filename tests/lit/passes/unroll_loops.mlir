// RUN: fhelium-opt %s -p unroll-loops | filecheck %s
// RUN: fhelium-opt %s -p unroll-loops --remarks applied 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: fhelium-opt %s -p fhelium-default --stop-after ckks-check | filecheck %s --check-prefix=DEFAULT

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// A private function is inlined and removed, a public one is inlined and stays.
// CHECK-NOT: @turn
func.func private @turn(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
  %t = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
  %s = ckks.add %x, %t : !ckks.ciphertext
  return %s : !ckks.ciphertext
}

// A private function that nothing calls is removed, whatever it takes.
// CHECK-NOT: @nobody
func.func private @nobody(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
  %t = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
  return %t : !ckks.ciphertext
}

// CHECK-LABEL: func.func @minus
// CHECK-NEXT: ckks.negate
func.func @minus(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %n = ckks.negate %x : !ckks.ciphertext
  return %n : !ckks.ciphertext
}

// Carried integers and ciphertexts, a branch, calls: rotations by 1, 2, 4, and a change of sign at i = 1.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT: [[T0:%.*]] = ckks.rotate %x {steps = 1 : i64} : !ckks.ciphertext
// CHECK-NEXT: [[S0:%.*]] = ckks.add %x, [[T0]] : !ckks.ciphertext
// CHECK-NEXT: [[T1:%.*]] = ckks.rotate [[S0]] {steps = 2 : i64} : !ckks.ciphertext
// CHECK-NEXT: [[S1:%.*]] = ckks.add [[S0]], [[T1]] : !ckks.ciphertext
// CHECK-NEXT: [[N1:%.*]] = ckks.negate [[S1]] : !ckks.ciphertext
// CHECK-NEXT: [[T2:%.*]] = ckks.rotate [[N1]] {steps = 4 : i64} : !ckks.ciphertext
// CHECK-NEXT: [[S2:%.*]] = ckks.add [[N1]], [[T2]] : !ckks.ciphertext
// CHECK-NEXT: func.return [[S2]] : !ckks.ciphertext
// REMARK: unroll_loops.mlir:[[# @LINE + 2]]:1: remark: [unroll-loops] applied: 'func.func': @loop has 8 ops
// DEFAULT: func.func @loop(%x: !ckks.ciphertext<level = 0, {{.*}}>) -> !ckks.ciphertext<level = 0,
func.func @loop(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r, %k = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %x, %steps = %c1) -> (!ckks.ciphertext, index) {
    %y = func.call @turn(%sum, %steps) : (!ckks.ciphertext, index) -> !ckks.ciphertext
    %twice = arith.addi %steps, %steps : index
    %second = arith.cmpi eq, %i, %c1 : index
    %z = scf.if %second -> (!ckks.ciphertext) {
      %n = func.call @minus(%y) : (!ckks.ciphertext) -> !ckks.ciphertext
      scf.yield %n : !ckks.ciphertext
    } else {
      scf.yield %y : !ckks.ciphertext
    }
    scf.yield %z, %twice : !ckks.ciphertext, index
  }
  return %r : !ckks.ciphertext
}

// Loops in loops, a loop without an iteration, values that swap places, a selected value.
// CHECK-LABEL: func.func @nested(%x: !ckks.ciphertext, %y: !ckks.ciphertext)
// CHECK-NEXT: [[A:%.*]] = ckks.sub %x, %y : !ckks.ciphertext
// CHECK-NEXT: [[B:%.*]] = ckks.sub %y, [[A]] : !ckks.ciphertext
// CHECK-NEXT: [[C:%.*]] = ckks.sub [[A]], [[B]] : !ckks.ciphertext
// CHECK-NEXT: func.return [[B]], [[C]], %y : !ckks.ciphertext
func.func @nested(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %a, %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %x, %q = %y) -> (!ckks.ciphertext, !ckks.ciphertext) {
    %stop = arith.subi %c2, %i : index
    %u, %v = scf.for %j = %c0 to %stop step %c1 iter_args(%s = %p, %t = %q) -> (!ckks.ciphertext, !ckks.ciphertext) {
      %d = ckks.sub %s, %t : !ckks.ciphertext
      scf.yield %t, %d : !ckks.ciphertext, !ckks.ciphertext
    }
    scf.yield %u, %v : !ckks.ciphertext, !ckks.ciphertext
  }
  %none = scf.for %i = %c5 to %c2 step %c1 iter_args(%s = %y) -> (!ckks.ciphertext) {
    %d = ckks.negate %s : !ckks.ciphertext
    scf.yield %d : !ckks.ciphertext
  }
  %no = arith.constant false
  %chosen = arith.select %no, %x, %none : !ckks.ciphertext
  return %a, %b, %chosen : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
}
}
