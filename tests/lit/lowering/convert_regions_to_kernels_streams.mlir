// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s
// RUN: fhelium-opt %s -p convert-regions-to-kernels,convert-zq-to-arith -t host | filecheck %s --check-prefix=HOST

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>

// Stream 1 waits, once, for %r, which it reads. Stream 0 waits before it overwrites half of %r by %t: for the last one on
// stream 1 that reads it.
// CHECK-LABEL: func.func @waits(
// CHECK:         host.launch @pointwise_0 grid [1, 2](%rows3, %moduli, %x, %r) :
// CHECK-NEXT:    %done = host.record stream 0 : !host.event
// CHECK:         host.wait stream 1 for %done : !host.event
// CHECK-NEXT:    host.launch @pointwise_1 grid [1, 2](%rows3, %moduli, %r, %s) {stream = 1 : i64} :
// CHECK-NEXT:    %u = host.alloc
// CHECK-NEXT:    host.launch @pointwise_1 grid [1, 2](%rows3, %moduli, %r, %u) {stream = 1 : i64} :
// CHECK-NEXT:    %done_1 = host.record stream 1 : !host.event
// CHECK:         host.wait stream 0 for %done_1 : !host.event
// CHECK-NEXT:    host.launch @pointwise_0 grid [1, 2](%rows3, %moduli, %x, %t) :
// CHECK-NEXT:    %v = host.alloc
// CHECK-NEXT:    host.launch @pointwise_1 grid [1, 2](%rows3, %moduli, %t, %v) :
// CHECK-NEXT:    func.return

// A graph is captured from several streams, everywhere else there is one.
// HOST:          fork = host.fork
// HOST:          def run(x_):
// HOST-NEXT:         streams = fork(2)
// HOST-NEXT:         arena_ = allocate((512,), 'int8')
// HOST:              launch(rows3_, moduli_, x_, r_)
// HOST-NEXT:         done_ = streams.record(0)
// HOST-NEXT:         streams.wait(1, done_)
// HOST-NEXT:         with streams[1]:
// HOST-NEXT:             launch_1(rows3_, moduli_, r_, s_)
// HOST-NEXT:         with streams[1]:
// HOST-NEXT:             launch_1(rows3_, moduli_, r_, u_)
// HOST-NEXT:         del r_
// HOST-NEXT:         done_1 = streams.record(1)
// HOST-NEXT:         t_ = view(
// HOST-NEXT:         del
// HOST-NEXT:         streams.wait(0, done_1)
// HOST-NEXT:         launch(rows3_, moduli_, x_, t_)
// HOST-NEXT:         del x_
// HOST-NEXT:         launch_1(rows3_, moduli_, t_, v_)
// HOST-NEXT:         del t_
// HOST-NEXT:         streams.join()
// HOST-NEXT:         return (s_, u_, v_,)
func.func @waits(%x : !e) -> (!e3, !e3, !e3) attributes {memory.arena = 512 : i64} {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows3, @moduli], offsets = [0]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  %s = fusion.region(%a = %r : !e2) -> (!e3) attributes {resources = [@rows3, @moduli], offsets = [-1], stream = 1 : i64} {
    %n = rns.negate %a : !e2
    fusion.yield %n : !e3
  }
  %u = fusion.region(%a = %r : !e2) -> (!e3) attributes {resources = [@rows3, @moduli], offsets = [-1], stream = 1 : i64} {
    %n = rns.negate %a : !e2
    fusion.yield %n : !e3
  }
  %t = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows3, @moduli], offsets = [128]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  %v = fusion.region(%a = %t : !e2) -> (!e3) attributes {resources = [@rows3, @moduli], offsets = [-1]} {
    %n = rns.negate %a : !e2
    fusion.yield %n : !e3
  }
  return %s, %u, %v : !e3, !e3, !e3
}

}
