// RUN: fhelium-opt %s -p infer-resources,plan-memory,convert-regions-to-kernels | filecheck %s
// RUN: fhelium-opt %s -p infer-resources,plan-memory,convert-regions-to-kernels,convert-zq-to-arith -t triton | filecheck %s --check-prefix=TRITON

!v = !rns.poly<16, q 0:3, digits = own(2), coefficient, fp64(e = 0, below = 1)>
!w = !rns.poly<16, q 0:3 p 0:2, digits = complement(2), coefficient, fp64(e = 0, below = 2)>
!f = !rns.poly<16, q 0:3 p 0:2, digits = complement(2), evaluation(bit_reversed), fp64(e = 0, below = 8)>
module attributes {rns.arithmetic = #rns.arithmetic<fp64>, ckks.params = #ckks.params<
  ring_degree = 16, q = [536870657, 536870561, 536870497], p = [1073741441, 1073740609], digits = 2, scale = 2**20, secret = ternary, insecure>} {

// The first digit has two limbs and three target rows, the second one limb and four: rows of one digit are paired, and
// what is left over stands beside itself.
// CHECK:       resource.declare @rows_1 "rows" {values = dense<{{\[\[}}0, 1], [2, 2], [3, 4], [5, 6]]> : tensor<4x2xi32>} : memref<4x2xi32>

// The first kernel runs over four pairs. One loop over the limbs of a digit loads each of the two words of a lane once
// and multiplies it by the factors of both rows; then each row goes through its own stages, and is stored unless it is
// the same one.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-SAME:    %pairs: !kernel.buffer<i32>
// CHECK:         [[P:%[0-9]+]] = kernel.program_id 1
// CHECK:         [[A:%[0-9]+]] = kernel.load %pairs[
// CHECK:         [[ROW0:%[0-9]+]] = arith.extsi [[A]]
// CHECK:         [[B:%[0-9]+]] = kernel.load %pairs[
// CHECK:         [[ROW1:%[0-9]+]] = arith.extsi [[B]]
// CHECK:         [[M0:%[0-9]+]] = zq.modulus
// CHECK:         [[M1:%[0-9]+]] = zq.modulus
// CHECK:         [[OTHER:%[0-9]+]] = arith.cmpi ne, [[ROW1]], [[ROW0]] : i64
// CHECK:         scf.for
// CHECK:           [[F0:%[0-9]+]] = kernel.load %conversion0[
// CHECK:           [[F1:%[0-9]+]] = kernel.load %conversion0[
// CHECK-NEXT:      arith.minui
// CHECK:           [[X:%[0-9]+]] = kernel.load %in0[
// CHECK:           [[Y:%[0-9]+]] = kernel.load %in0[
// CHECK-NOT:       kernel.load
// CHECK:           zq.mul [[X]], [[F0]] mod [[M0]]
// CHECK:           zq.mul [[Y]], [[F0]] mod [[M0]]
// CHECK:           zq.mul [[X]], [[F1]] mod [[M1]]
// CHECK:           zq.mul [[Y]], [[F1]] mod [[M1]]
// CHECK:           scf.yield
// CHECK-COUNT-2: kernel.store {{%[0-9]+}}, %out0[{{%[0-9]+}}] : f64
// CHECK-COUNT-2: kernel.store {{%[0-9]+}}, %out0[{{%[0-9]+}}] mask [[OTHER]] : f64
// CHECK:         kernel.return

// The second kernel has a row for each program.
// CHECK-LABEL: kernel.func @forward_1(
// CHECK-NOT:     %pairs
// CHECK:       host.launch @forward_0 grid [2, 4](
// CHECK:       host.launch @forward_1 grid [2, 7](

// TRITON-LABEL: def forward_0(
// TRITON:         tl.load(pairs
// TRITON:         tl.store(out0 + {{v_[0-9]+}}, {{v_[0-9]+}})
// TRITON:         tl.store(out0 + {{v_[0-9]+}}, {{v_[0-9]+}}, mask=
func.func @digits(%x : !v) -> !f {
  %r = fusion.region(%a = %x : !v) -> (!f) {
    %b = rns.base_convert %a {lift = "centred", correction = "none"} : !v -> !w
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1, converted_rows = 2>} : !w
    fusion.yield %c : !f
  }
  return %r : !f
}
}
