// RUN: fhelium-opt %s -p infer-resources,plan-memory,convert-regions-to-kernels | filecheck %s
// RUN: fhelium-opt %s -p infer-resources,plan-memory | filecheck %s --check-prefix=PLAN

!own = !rns.poly<16, q 0:3, evaluation(bit_reversed), mont32(e = 0, below = 1)>
!v = !rns.poly<16, q 0:3, digits = own(1), coefficient, mont32(e = 0, below = 1)>
!w = !rns.poly<16, q 0:3 p 0:1, digits = complement(1), coefficient, mont32(e = 0, below = 2)>
!f = !rns.poly<16, q 0:3 p 0:1, digits = complement(1), evaluation(bit_reversed), mont32(e = 0, below = 4)>
!key = !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont32(e = 1, below = 1)>
!sum = !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed), mont32(e = 0, below = 2)>
!out = !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed), mont32(e = 0, below = 1)>
module attributes {rns.arithmetic = #rns.arithmetic<mont32>, ckks.params = #ckks.params<
  ring_degree = 16, q = [536870657, 536870561, 536870497], p = [536870849], digits = 3, scale = 2**20, secret = ternary, insecure>} {

// By program row of the transform: the prime, where the operand of the conversion begins, its count, the entry of the
// conversion's table, and the row of the scratch memory. There are three digits of one limb, so every limb of q takes two
// converted digits and p takes three: the first two of each limb lie where its results will be, p's third one behind.
// Each row has eleven zeros behind these five words; as words of four bytes, the lower ones first:
// PLAN: resource.declare @rows_1 "rows" {values = dense<"0x
// PLAN-SAME: 01000000000000000100000000000000010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 02000000000000000100000006000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 0300000000000000010000000C000000030000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 00000000010000000100000012000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 02000000010000000100000018000000060000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 0300000001000000010000001E000000070000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 00000000020000000100000024000000040000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 0100000002000000010000002A000000050000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
// PLAN-SAME: 03000000020000000100000030000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000

// By result row four entries: the digit that the limb belongs to, then the others, as row, scratch row and the two rows of
// the key. No digit has the limb p, all three are converted.
// PLAN: resource.declare @rows_2 "rows" {values = dense<[
// PLAN-SAME: [0, -1, 0, 4], [3, 0, 8, 12], [6, 4, 16, 20], [-1, -1, 16, 20],
// PLAN-SAME: [-1, -1, 3, 7], [2, 3, 3, 7], [5, 7, 11, 15], [8, 8, 19, 23]]>

// The scratch memory has nine rows of 64 bytes; the result, of eight, begins where it begins.
// PLAN: attributes {memory.arena = 768 : i64}
// PLAN: %sum = fusion.region({{.*}}scratch = [0 : i64], offsets = [0 : i64]} {

// The first kernel runs over the nine digits and limbs, and leaves words in the scratch memory.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-SAME:    %digit_rows: !kernel.buffer<i32>, {{.*}} %scratch0: !kernel.buffer<i32>) lanes [2, 2] grid 2
// CHECK-COUNT-2: kernel.store {{.*}}, %scratch0[

// The second one runs over the four rows of the result. What is transformed already is multiplied first, with 0 where the
// row has none; each trip of the loop takes a digit through the last stages and multiplies it for both components.
// CHECK-LABEL: kernel.func @key_product_0(
// CHECK:         [[OWN:%[0-9]+]] = kernel.load %in1{{.*}} mask
// CHECK:         [[K:%[0-9]+]] = kernel.load %in2{{.*}} mask
// CHECK-NEXT:    [[S:%[0-9]+]] = zq.mul [[OWN]], [[K]]
// CHECK:         scf.for {{.*}} iter_args({{%[0-9]+}} = [[S]], {{.*}})
// CHECK-COUNT-4: kernel.load %scratch0[{{%[0-9]+}}] : !kernel.buffer<i32> -> i32
// CHECK-COUNT-3: kernel.load %twiddles
// CHECK-COUNT-8: kernel.load %in2[{{%[0-9]+}}] : !kernel.buffer<i32> -> i32
// CHECK:         scf.yield
// CHECK:         zq.reduce {{.*}} from 2 to 1
// CHECK-COUNT-8: kernel.store {{.*}}, %out0[
// CHECK:         kernel.return

// CHECK:       %sum = host.view %arena at 0 : memref<768xi8> -> memref<2x4x16xi32>
// CHECK:       %scratch = host.view %arena at 0 : memref<768xi8> -> memref<9x16xi32>
// CHECK:       host.launch @forward_0 grid [2, 9]({{.*}}, %scratch) :
// CHECK:       host.launch @key_product_0 grid [2, 4]({{.*}}, %scratch, %sum) :
func.func @switch(%own : !own, %v : !v, %key : !key) -> !out {
  %sum = fusion.region(%a = %v : !v, %b = %own : !own, %c = %key : !key) -> (!out) {
    %w = rns.base_convert %a {lift = "centred", correction = "none"} : !v -> !w
    %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !w
    %s = rns.accumulate %b, %f, %c : !own, !f, !key -> !sum
    %r = rns.set_representative %s : !sum -> !out
    fusion.yield %r : !out
  }
  %last = fusion.region(%a = %sum : !out) -> (!out) {
    %n = rns.set_representative %a : !out -> !out
    fusion.yield %n : !out
  }
  return %last : !out
}
}
