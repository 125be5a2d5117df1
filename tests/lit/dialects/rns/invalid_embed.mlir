// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

func.func @smaller(%x : !rns.poly<8192, q 0:2, coefficient>) {
  // CHECK: error: 'rns.embed': the operand's basis q 0:2 is no part of q 1:3
  %r = rns.embed %x : !rns.poly<8192, q 0:2, coefficient> -> !rns.poly<8192, q 1:3, coefficient>
  return
}

// -----

func.func @components(%x : !rns.poly<8192, q 0:2, coefficient>) {
  // CHECK: error: 'rns.embed': other limbs cannot change the components
  %r = rns.embed %x : !rns.poly<8192, q 0:2, coefficient> -> !rns.poly<8192, q 0:3, components = 2, coefficient>
  return
}

// -----

func.func @digits(%x : !rns.poly<8192, q 0:2, digits = own(1), coefficient>) {
  // CHECK: error: 'rns.embed': a bundle with digits cannot be embedded
  %r = rns.embed %x : !rns.poly<8192, q 0:2, digits = own(1), coefficient> -> !rns.poly<8192, q 0:3, digits = own(1), coefficient>
  return
}
