// RUN: not fhelium-opt %s --split-input-file -p 'unroll-loops{limit=1000}' 2>&1 | filecheck %s

func.func @f(%x : !ckks.ciphertext, %n : index) -> !ckks.ciphertext {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: scf.for: the upper bound must follow from constants and induction variables, but %n is an argument of @f
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (!ckks.ciphertext) {
    scf.yield %s : !ckks.ciphertext
  }
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %b = "test.op"() : () -> i1
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: scf.if: the condition must follow from constants and induction variables, but %b comes from test.op
  %r = scf.if %b -> (!ckks.ciphertext) {
    scf.yield %x : !ckks.ciphertext
  } else {
    scf.yield %x : !ckks.ciphertext
  }
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: ckks.rotate_dynamic: the number of steps must follow from constants and induction variables, but %k is an argument of @f
  %r = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
  return %r : !ckks.ciphertext
}

// -----

func.func private @even(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %r = func.call @odd(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  return %r : !ckks.ciphertext
}
func.func private @odd(%x : !ckks.ciphertext) -> !ckks.ciphertext {
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: recursive calls: @even -> @odd -> @even
  %r = func.call @even(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  return %r : !ckks.ciphertext
}
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %r = func.call @even(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  return %r : !ckks.ciphertext
}

// -----

func.func private @outside(!ckks.ciphertext) -> !ckks.ciphertext
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: @outside has no body
  %r = func.call @outside(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: @f takes more than 1000 ops and iterations; unroll-loops{limit=...} allows more
  %r = scf.for %i = %c0 to %many step %c1 iter_args(%s = %x) -> (!ckks.ciphertext) {
    %t = ckks.negate %s : !ckks.ciphertext
    scf.yield %t : !ckks.ciphertext
  }
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %c0 = arith.constant 0 : index
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: scf.for: the step is 0
  %r = scf.for %i = %c0 to %c0 step %c0 iter_args(%s = %x) -> (!ckks.ciphertext) {
    scf.yield %s : !ckks.ciphertext
  }
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %c0 = arith.constant 0 : index
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: arith.divui: division by zero
  %q = arith.divui %c0, %c0 : index
  return %x : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %yes = arith.constant true
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:8: error: unroll-loops: scf.while cannot be unrolled; scf.for, scf.if and func.call can
  %r = scf.while (%s = %x) : (!ckks.ciphertext) -> !ckks.ciphertext {
    scf.condition(%yes) %s : !ckks.ciphertext
  } do {
  ^bb0(%t : !ckks.ciphertext):
    scf.yield %t : !ckks.ciphertext
  }
  return %r : !ckks.ciphertext
}

// -----

func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %k = arith.constant 1 : index
// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:3: error: unroll-loops: test.op takes an integer; integers are for loop bounds, conditions and steps only
  "test.op"(%k) : (index) -> ()
  return %x : !ckks.ciphertext
}

// -----

// CHECK: unroll_loops_errors.mlir:[[# @LINE + 1]]:1: error: unroll-loops: @f has several blocks: write loops and branches with scf.for and scf.if
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  cf.br ^next(%x : !ckks.ciphertext)
^next(%y : !ckks.ciphertext):
  return %y : !ckks.ciphertext
}
