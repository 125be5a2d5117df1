// RUN: fhelium-opt %s -p infer-resources,plan-memory,convert-regions-to-kernels | filecheck %s

!c = !rns.poly<16, q 0:3, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
!p = !rns.poly<16, p 0:2, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 1)>
!s = !rns.poly<16, q 0:3, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473, 1099511628161], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {

// A kernel for each group of primes; words of doubles are bits in memory.
// CHECK-LABEL: kernel.func @pointwise_0(
// CHECK:         zq.modulus {{.*}} -> !zq.modulus<mont64>
// CHECK:         [[X:%[0-9]+]] = kernel.load %in0
// CHECK-NEXT:    [[S:%[0-9]+]] = zq.add [[X]], [[X]]
// CHECK:         kernel.store [[S]], %out0
// CHECK-LABEL: kernel.func @pointwise_1(
// CHECK:         zq.modulus {{.*}} -> !zq.modulus<fp64>
// CHECK:         [[X:%[0-9]+]] = kernel.load %in0{{.*}} -> i64
// CHECK-NEXT:    [[D:%[0-9]+]] = arith.bitcast [[X]] : i64 to f64
// CHECK-NEXT:    [[S:%[0-9]+]] = zq.add [[D]], [[D]]
// CHECK:         [[B:%[0-9]+]] = arith.bitcast [[S]] : f64 to i64
// CHECK-NEXT:    kernel.store [[B]], %out0

// To integers: one loop over source limbs that are integers, one over doubles, which become canonical; both count what
// is above half of its prime.
// CHECK-LABEL: kernel.func @pointwise_2(
// CHECK:         scf.for
// CHECK:           [[V:%[0-9]+]] = kernel.load %in0
// CHECK:           zq.mul [[V]], {{.*}} !zq.modulus<mont64>
// CHECK:           arith.cmpi ugt, [[V]]
// CHECK:         scf.for
// CHECK:           [[BITS:%[0-9]+]] = kernel.load %in0
// CHECK-NEXT:      [[D:%[0-9]+]] = arith.bitcast [[BITS]] : i64 to f64
// CHECK:           [[V:%[0-9]+]] = arith.select
// CHECK:           zq.mul [[V]], {{.*}} !zq.modulus<mont64>
// CHECK:           arith.cmpi ne, [[V]]
// CHECK:         zq.mul
// CHECK-NEXT:    zq.add
// CHECK-NEXT:    zq.reduce

// To doubles: an integer is centred and multiplied in two parts, a double is centred already.
// CHECK-LABEL: kernel.func @pointwise_3(
// CHECK:         scf.for
// CHECK:           [[V:%[0-9]+]] = kernel.load %in0
// CHECK:           [[C:%[0-9]+]] = arith.select {{.*}}, [[V]] : i64
// CHECK-NEXT:      arith.shrsi [[C]]
// CHECK-NEXT:      arith.andi [[C]]
// CHECK-COUNT-2:   zq.mul
// CHECK:         scf.for
// CHECK:           [[D:%[0-9]+]] = arith.bitcast
// CHECK:           zq.mul [[D]], {{.*}} !zq.modulus<fp64>
// CHECK-NEXT:      zq.add
// CHECK-NEXT:      scf.yield
// CHECK:         zq.reduce {{.*}} to 1

// Both kernels of a region get the same buffers, and tables of their own.
// CHECK-LABEL: func.func @sum(
// CHECK:         host.launch @pointwise_0 grid [1, 1](%rows, %moduli, %x, %r)
// CHECK-NEXT:    host.launch @pointwise_1 grid [1, 2](%rows_1, %moduli_1, %x, %r)
func.func @sum(%x : !c) -> !s {
  %r = fusion.region(%a = %x : !c) -> (!s) {
    %v = rns.add %a, %a : !c
    fusion.yield %v : !s
  }
  return %r : !s
}

// CHECK-LABEL: func.func @convert(
// CHECK:         host.launch @pointwise_2 grid [1, 1](%rows, %moduli, %x, %conversion, %s)
// CHECK-NEXT:    host.launch @pointwise_3 grid [1, 1](%rows_1, %moduli_1, %x, %conversion_1, %s)
func.func @convert(%x : !c) -> !p {
  %s = fusion.region(%a = %x : !c) -> (!p) {
    %v = rns.base_convert %a {lift = "centred", correction = "none"} : !c -> !p
    fusion.yield %v : !p
  }
  return %s : !p
}
}
