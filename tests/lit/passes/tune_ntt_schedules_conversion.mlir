// RUN: fhelium-opt %s -p tune-ntt-schedules --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=cpu}' | filecheck %s --check-prefix=CPU

// Programs of a base conversion compute two residue polynomials at once on a GPU, on the CPU one.
// CPU: builtin.module
// CPU-NOT: converted_rows
// REMARKS: ring degree 65536 on 'gpu': 2 transforms as {{\[\[4, 4\], \[4, 4\]\]}}, 2 rows of a base conversion at once, cost

!v = !rns.poly<65536, q 0:8, digits = own(4), coefficient, fp64(e = 0, below = 1)>
!w = !rns.poly<65536, q 0:8 p 0:4, digits = complement(4), coefficient, fp64(e = 0, below = 2)>
!f = !rns.poly<65536, q 0:8 p 0:4, digits = complement(4), evaluation(bit_reversed), fp64(e = 0, below = 8)>

// 16 rows of 4096 lanes: as many as keep the GPU busy twice.
// CHECK-LABEL: func.func @digits(
// CHECK:         ntt.forward {{.*}}, warps = 4, table_stages = 8, converted_rows = 2>}
func.func @digits(%x : !v) -> !f {
  %r = fusion.region(%a = %x : !v) -> (!f) {
    %b = rns.base_convert %a {lift = "centred", correction = "none"} : !v -> !w
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !w
    fusion.yield %c : !f
  }
  return %r : !f
}

!u = !rns.poly<65536, p 0:2, components = 2, coefficient, fp64(e = 0, below = 1)>
!d = !rns.poly<65536, q 0:8, components = 2, coefficient, fp64(e = 0, below = 2)>
!g = !rns.poly<65536, q 0:8, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 8)>

// A kernel of its own computes the correction of this one.
// CHECK-LABEL: func.func @divided(
// CHECK:         ntt.forward {{.*}}, converted_rows = 2>}
func.func @divided(%x : !u) -> !g {
  %r = fusion.region(%a = %x : !u) -> (!g) {
    %b = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !u -> !d
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !d
    fusion.yield %c : !g
  }
  return %r : !g
}

!one = !rns.poly<65536, p 0:1, components = 2, coefficient, fp64(e = 0, below = 1)>

// With one limb to convert a source word is read once for each target anyway, and little else; two rows took longer.
// CHECK-LABEL: func.func @one_limb(
// CHECK:         ntt.forward {{.*}}, warps = 4, table_stages = 8>}
func.func @one_limb(%x : !one) -> !g {
  %r = fusion.region(%a = %x : !one) -> (!g) {
    %b = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !one -> !d
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !d
    fusion.yield %c : !g
  }
  return %r : !g
}

!few = !rns.poly<65536, q 0:4, components = 2, coefficient, fp64(e = 0, below = 2)>
!h = !rns.poly<65536, q 0:4, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 8)>

// With 8 rows too few programs would be left.
// CHECK-LABEL: func.func @few(
// CHECK:         ntt.forward {{.*}}, warps = 4, table_stages = 8>}
func.func @few(%x : !u) -> !h {
  %r = fusion.region(%a = %x : !u) -> (!h) {
    %b = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !u -> !few
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !few
    fusion.yield %c : !h
  }
  return %r : !h
}

!s = !rns.poly<65536, q 0:8, digits = own(4), coefficient, smont32(e = 0, below = 1)>
!t = !rns.poly<65536, q 0:8 p 0:4, digits = complement(4), coefficient, smont32(e = 0, below = 2)>
!o = !rns.poly<65536, q 0:8 p 0:4, digits = complement(4), evaluation(bit_reversed), smont32(e = 0, below = 2)>

// Words of 32 bits have been timed with one row only.
// CHECK-LABEL: func.func @signed(
// CHECK-NOT:     converted_rows
func.func @signed(%x : !s) -> !o {
  %r = fusion.region(%a = %x : !s) -> (!o) {
    %b = rns.base_convert %a {lift = "centred", correction = "none"} : !s -> !t
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 3, output = 2, exponent = 0>} : !t
    fusion.yield %c : !o
  }
  return %r : !o
}
