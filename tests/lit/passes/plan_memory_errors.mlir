// RUN: not fhelium-opt %s -p 'plan-memory{alignment=100}' > %t.out 2> %t.err
// RUN: not fhelium-opt %s -p 'plan-memory{alignment=4}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'plan-memory{alignment=-8}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p plan-memory >> %t.out 2>> %t.err
// RUN: filecheck %s < %t.err
// RUN: filecheck %s --check-prefix=NOTHING --allow-empty < %t.out

// CHECK:      {{^}}error: plan-memory: alignment = 100 is not a power of two from 8
// CHECK:      {{^}}error: plan-memory: alignment = 4 is not a power of two from 8
// CHECK:      {{^}}error: plan-memory: alignment = -8 is not a power of two from 8
// CHECK:      .mlir:[[# @LINE + 5]]:1: error: plan-memory: the module has no arithmetic; run select-arithmetic first
// NOTHING-NOT: {{.}}

!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>

func.func @chain(%x : !e2) -> !e2 {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  return %s : !e2
}
