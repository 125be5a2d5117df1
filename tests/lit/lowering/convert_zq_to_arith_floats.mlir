// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// Constants, and -q as a product, stand where the modulus was. 0x4330000000000000 is 2^52, 0x4338000000000000 1.5 * 2^52.
// CHECK:      %i = kernel.load
// CHECK-NEXT: [[BITS:%.*]] = arith.constant 4841369599423283200 : i64
// CHECK-NEXT: [[TWO52:%.*]] = arith.constant 0x4330000000000000 : f64
// CHECK-NEXT: %magic = arith.constant 0x4338000000000000 : f64
// CHECK-NEXT: %minus_one = arith.constant -1.000000e+00 : f64
// CHECK-NEXT: %q_negative = arith.mulf %q, %minus_one : f64
// CHECK-NEXT: [[MAGIC:%.*]] = arith.constant 4843621399236968448 : i64
// CHECK-NEXT: [[ZERO:%.*]] = arith.constant 0 : i64
// CHECK-NEXT: %q_lifted = arith.addf %q, %magic : f64
// CHECK-NEXT: %q_bits = arith.bitcast %q_lifted : f64 to i64
// CHECK-NEXT: %q_integer = arith.subi %q_bits, [[MAGIC]] : i64

// An integer becomes the low bits of 2^52.
// CHECK-NEXT: %v = kernel.load
// CHECK-NEXT: [[OR:%.*]] = arith.ori %v, [[BITS]] : i64
// CHECK-NEXT: [[CAST:%.*]] = arith.bitcast [[OR]] : i64 to f64
// CHECK-NEXT: %a = arith.subf [[CAST]], [[TWO52]] : f64
// CHECK-NEXT: %b = kernel.load
// CHECK-NEXT: %s = arith.addf %a, %b : f64
// CHECK-NEXT: %d = arith.subf %s, %b : f64

// A product: six operations, and a change of sign.
// CHECK-NEXT: %high = arith.mulf %d, %b : f64
// CHECK-NEXT: [[T:%.*]] = math.fma %high, %i, %magic : f64
// CHECK-NEXT: %count = arith.subf [[T]], %magic : f64
// CHECK-NEXT: [[H:%.*]] = arith.mulf %high, %minus_one : f64
// CHECK-NEXT: %low = math.fma %d, %b, [[H]] : f64
// CHECK-NEXT: %rest = math.fma %count, %q_negative, %high : f64
// CHECK-NEXT: %p = arith.addf %rest, %low : f64
// CHECK:      %t = arith.addf {{%.*}}, {{%.*}} : f64
// CHECK-NEXT: %e = arith.addf %p, %t : f64

// A reduction: three.
// CHECK-NEXT: [[R:%.*]] = math.fma %e, %i, %magic : f64
// CHECK-NEXT: [[K:%.*]] = arith.subf [[R]], %magic : f64
// CHECK-NEXT: %r = math.fma [[K]], %q_negative, %e : f64

// 1.5 * 2^52 brings a residue into the low bits, and a negative one is moved by q.
// CHECK-NEXT: [[L:%.*]] = arith.addf %r, %magic : f64
// CHECK-NEXT: [[B:%.*]] = arith.bitcast [[L]] : f64 to i64
// CHECK-NEXT: [[S:%.*]] = arith.subi [[B]], [[MAGIC]] : i64
// CHECK-NEXT: [[N:%.*]] = arith.cmpi slt, [[S]], [[ZERO]] : i64
// CHECK-NEXT: [[M:%.*]] = arith.select [[N]], %q_integer, [[ZERO]] : i64
// CHECK-NEXT: %z = arith.addi [[S]], [[M]] : i64
// CHECK-NEXT: kernel.store %z
kernel.func @k(%x : !kernel.buffer<f64>, %w : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<f64> -> f64
  %i = kernel.load %x[%o] : !kernel.buffer<f64> -> f64
  %m = zq.modulus %q, %i : f64 -> !zq.modulus<fp64>
  %v = kernel.load %w[%l] : !kernel.buffer<i64> -> i64
  %a = zq.to_float %v mod %m : !zq.modulus<fp64>
  %b = kernel.load %x[%l] : !kernel.buffer<f64> -> f64
  %s = zq.add %a, %b mod %m : f64, !zq.modulus<fp64>
  %d = zq.sub %s, %b mod %m offset 0 : f64, !zq.modulus<fp64>
  %p = zq.mul %d, %b mod %m : f64, !zq.modulus<fp64>
  %t = zq.mul %s, %b mod %m : f64, !zq.modulus<fp64>
  %e = zq.add %p, %t mod %m : f64, !zq.modulus<fp64>
  %r = zq.reduce %e mod %m from 4 to 1 : f64, !zq.modulus<fp64>
  %z = zq.to_integer %r mod %m : !zq.modulus<fp64>
  kernel.store %z, %w[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
