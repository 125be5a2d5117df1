// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK: host.operation @negate_0 "outside-library" (%a: !rns.poly<16, q 0:2, coefficient>) {
// CHECK-NEXT: %r = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
// CHECK-NEXT: }
host.operation @negate_0 "outside-library" (%a : !rns.poly<16, q 0:2, coefficient>) {
  %r = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
}
