// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// Doubles are loaded, stored and exchanged like other words; constants keep all their bits.
// CHECK{LITERAL}: kernel.func @k(%x: !kernel.buffer<f64>, %y: !kernel.buffer<i64>, %n: i64) lanes [2, 4] grid 1 {
// CHECK{LITERAL}:   %magic = arith.constant 0x4338000000000000 : f64
// CHECK-NEXT{LITERAL}:   %minus = arith.constant -1.000000e+00 : f64
// CHECK{LITERAL}:   %a = kernel.load %x[%l] mask %in : !kernel.buffer<f64> -> f64
// CHECK-NEXT{LITERAL}:   %b = math.fma %a, %minus, %magic : f64
// CHECK-NEXT{LITERAL}:   %c, %d = kernel.exchange %a, %b axis 0 : f64, f64 -> f64, f64
// CHECK-NEXT{LITERAL}:   %e = arith.cmpf olt, %c, %d : f64
// CHECK-NEXT{LITERAL}:   %f = arith.select %e, %c, %d : f64
// CHECK-NEXT{LITERAL}:   %g = arith.bitcast %f : f64 to i64
// CHECK-NEXT{LITERAL}:   kernel.store %g, %y[%l] mask %in : i64, !kernel.buffer<i64>
// CHECK-NEXT{LITERAL}:   kernel.store %f, %x[%l] mask %in : f64, !kernel.buffer<f64>
kernel.func @k(%x : !kernel.buffer<f64>, %y : !kernel.buffer<i64>, %n : i64) lanes [2, 4] grid 1 {
  %magic = arith.constant 6755399441055744.0 : f64
  %minus = arith.constant -1.0 : f64
  %l = kernel.lane_id 1
  %in = arith.cmpi ult, %l, %n : i64
  %a = kernel.load %x[%l] mask %in : !kernel.buffer<f64> -> f64
  %b = math.fma %a, %minus, %magic : f64
  %c, %d = kernel.exchange %a, %b axis 0 : f64, f64 -> f64, f64
  %e = arith.cmpf olt, %c, %d : f64
  %f = arith.select %e, %c, %d : f64
  %g = arith.bitcast %f : f64 to i64
  kernel.store %g, %y[%l] mask %in : i64, !kernel.buffer<i64>
  kernel.store %f, %x[%l] mask %in : f64, !kernel.buffer<f64>
  kernel.return
}
