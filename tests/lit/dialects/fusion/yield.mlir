// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @negated(
// CHECK: %n = rns.negate %a
// CHECK-NEXT{LITERAL}: fusion.yield %n, %a : !rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>
// GENERIC: "fusion.yield"(%n, %a) : (!rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>) -> ()
func.func @negated(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>) {
  %r, %s = fusion.region(%a = %x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>) {
    %n = rns.negate %a : !rns.poly<8192, q 0:2, coefficient>
    fusion.yield %n, %a : !rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>
  }
  return %r, %s : !rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2, coefficient>
}
