// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!pt = !ckks.plaintext<level = 2, scale = 2**40>
!low = !ckks.ciphertext<level = 0, scale = 2**40>
!low_pt = !ckks.plaintext<level = 0, scale = 2**40>
!odd = !ckks.plaintext<level = 2, scale = 2**80 / q2>
!odd_ct = !ckks.ciphertext<level = 2, scale = 2**80 / q2>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK:      resource.declare @plaintext "plaintext" {values = dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf64>, level = 2 : i64, scale = "1099511627776/1"}
// CHECK-NEXT: resource.declare @plaintext_1 "plaintext" {values = dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf64>, level = 0 : i64, scale = "1099511627776/1"}
// CHECK-NEXT: resource.declare @plaintext_2 "plaintext" {values = dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf64>, level = 2 : i64, scale = "1208925819614629174706176/1099511627873"}

// A constant becomes a declared plaintext; its scale is an exact fraction.
// CHECK-LABEL: func.func @encode(
// CHECK-NEXT:    %p = resource.ref @plaintext : !rns.poly<16, q 0:3, evaluation(bit_reversed)>
// CHECK-NEXT:    %0 = rns.pad %p {components = 2 : i64}
// CHECK-NEXT:    %z = rns.add %x, %0
// CHECK-NEXT:    func.return %z
func.func @encode(%x : !ct) -> !ct {
  %c = arith.constant dense<[1.0, 0.5]> : tensor<2xf64>
  %p = ckks.encode %c : tensor<2xf64> -> !pt
  %z = ckks.add_plain %x, %p : !ct, !pt
  return %z : !ct
}

// The same values at the same level and scale are the same resource, in another function too.
// CHECK-LABEL: func.func @again(
// CHECK-NEXT:    %p = resource.ref @plaintext : !rns.poly<16, q 0:3, evaluation(bit_reversed)>
// CHECK-NEXT:    %0 = rns.pad %p {components = 2 : i64}
// CHECK-NEXT:    %z = rns.sub %x, %0
// CHECK-NEXT:    func.return %z
func.func @again(%x : !ct) -> !ct {
  %c = arith.constant dense<[1.0, 0.5]> : tensor<2xf64>
  %p = ckks.encode %c : tensor<2xf64> -> !pt
  %z = ckks.sub_plain %x, %p : !ct, !pt
  return %z : !ct
}

// Another level or scale is another resource.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    %p = resource.ref @plaintext_1 : !rns.poly<16, q 0:1, evaluation(bit_reversed)>
// CHECK-NEXT:    %q = resource.ref @plaintext_2 : !rns.poly<16, q 0:3, evaluation(bit_reversed)>
// CHECK-NEXT:    %0 = rns.pad %p {components = 2 : i64}
// CHECK-NEXT:    %z = rns.add %x, %0
// CHECK-NEXT:    %1 = rns.pad %q {components = 2 : i64}
// CHECK-NEXT:    %w = rns.add %y, %1
// CHECK-NEXT:    func.return %z, %w
func.func @others(%x : !low, %y : !odd_ct) -> (!low, !odd_ct) {
  %c = arith.constant dense<[1.0, 0.5]> : tensor<2xf64>
  %p = ckks.encode %c : tensor<2xf64> -> !low_pt
  %q = ckks.encode %c : tensor<2xf64> -> !odd
  %z = ckks.add_plain %x, %p : !low, !low_pt
  %w = ckks.add_plain %y, %q : !odd_ct, !odd
  return %z, %w : !low, !odd_ct
}
}
