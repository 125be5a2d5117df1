// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'form-fusion-regions{key-product=false}' --remarks=all 2> %t.off | filecheck %s --check-prefix=OFF
// RUN: filecheck %s --check-prefix=OFF-REMARKS < %t.off
// RUN: fhelium-opt %s -p 'form-fusion-regions{prologue=false}' | filecheck %s --check-prefix=PROLOGUE
// RUN: fhelium-opt %s -p 'form-fusion-regions{epilogue=false}' | filecheck %s --check-prefix=EPILOGUE
// RUN: fhelium-opt %s -p 'form-fusion-regions{device="%S/Inputs/few_registers.json"}' --remarks=all 2> %t.few > /dev/null
// RUN: filecheck %s --check-prefix=FEW < %t.few

!own = !rns.poly<4096, q 0:4, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!v = !rns.poly<4096, q 0:4, digits = own(2), coefficient, mont64(e = 0, below = 1)>
!w = !rns.poly<4096, q 0:4 p 0:2, digits = complement(2), coefficient, mont64(e = 0, below = 2)>
!f = !rns.poly<4096, q 0:4 p 0:2, digits = complement(2), evaluation(bit_reversed), mont64(e = 0, below = 4)>
!key = !rns.poly<4096, q 0:4 p 0:2, components = 2, digits = key(2), evaluation(bit_reversed), mont64(e = 1, below = 1)>
!sum = !rns.poly<4096, q 0:4 p 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!out = !rns.poly<4096, q 0:4 p 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// The inner product joins the transform of its digits, and what follows it joins both: eight rows of digits are neither
// written nor read, 2 * 8 * 4096 words, and there is a launch less.
// CHECK-LABEL: func.func @switch(
// CHECK-NEXT:    %r = fusion.region(
// CHECK-NEXT:      %w = rns.base_convert
// CHECK-NEXT:      %f = ntt.forward %w
// CHECK-NEXT:      %s = rns.accumulate %own_1, %f, %key_1
// CHECK-NEXT:      %r_1 = rns.set_representative %s
// CHECK-NEXT:      fusion.yield %r_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r
// REMARKS: 'rns.accumulate': fused with its producer ntt.forward: it saves 69632 moved words and costs 21845{{$}}
// REMARKS: 'rns.set_representative': fused with its producer rns.accumulate{{$}}

// OFF-LABEL: func.func @switch(
// OFF:         %f = fusion.region(
// OFF:           ntt.forward
// OFF-NEXT:      fusion.yield
// OFF:         %r = fusion.region(
// OFF-NEXT:      %s = rns.accumulate
// OFF-NEXT:      %r_1 = rns.set_representative
// OFF-REMARKS: missed: 'rns.accumulate': not fused with its producer ntt.forward: the option key_product is false

// PROLOGUE-LABEL: func.func @switch(
// PROLOGUE:         rns.base_convert
// PROLOGUE-NEXT:      fusion.yield
// PROLOGUE:           ntt.forward
// PROLOGUE-NEXT:      rns.accumulate

// EPILOGUE-LABEL: func.func @switch(
// EPILOGUE:         ntt.forward
// EPILOGUE-NEXT:      rns.accumulate
// EPILOGUE-NEXT:      fusion.yield
// EPILOGUE:           rns.set_representative

// FEW: missed: 'rns.accumulate': not fused with its producer ntt.forward: the sums and a digit take 160 registers, a lane of 'few registers' has 128
func.func @switch(%own : !own, %v : !v, %key : !key) -> !out {
  %w = rns.base_convert %v {lift = "centred", correction = "none"} : !v -> !w
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !w
  %s = rns.accumulate %own, %f, %key : !own, !f, !key -> !sum
  %r = rns.set_representative %s : !sum -> !out
  return %r : !out
}

// Read through a permutation, an element comes from another program.
// CHECK-LABEL: func.func @hoisted(
// CHECK:         ntt.forward
// CHECK-NEXT:    fusion.yield
// CHECK:         rns.automorphism
// CHECK:         rns.accumulate
// REMARKS: missed: 'rns.accumulate': not fused with its producer ntt.forward: an inner product that reads its digits through a permutation needs them in memory: it takes elements that other programs transform
func.func @hoisted(%own : !own, %v : !v, %key : !key) -> !sum {
  %w = rns.base_convert %v {lift = "centred", correction = "none"} : !v -> !w
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !w
  %o = rns.automorphism %own {galois = 5} : !own
  %t = rns.automorphism %f {galois = 5} : !f
  %s = rns.accumulate %o, %t, %key : !own, !f, !key -> !sum
  return %s : !sum
}

// Two inner products of the same digits: the digits are transformed once.
// CHECK-LABEL: func.func @shared(
// CHECK:         ntt.forward
// CHECK-NEXT:    fusion.yield
// REMARKS: missed: 'rns.accumulate': not fused with its producer ntt.forward: transformed digits that others read have to be in memory
func.func @shared(%own : !own, %v : !v, %key : !key, %other : !key) -> (!sum, !sum) {
  %w = rns.base_convert %v {lift = "centred", correction = "none"} : !v -> !w
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !w
  %s = rns.accumulate %own, %f, %key : !own, !f, !key -> !sum
  %t = rns.accumulate %own, %f, %other : !own, !f, !key -> !sum
  return %s, %t : !sum, !sum
}
}
