// heir-opt comparison.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @comparison(%x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %c = arith.constant dense<1.5> : tensor<8xf32>
  %h = arith.constant dense<0.5> : tensor<8xf32>
  %d = arith.subf %x, %y : tensor<8xf32>
  %f0 = arith.mulf %d, %h : tensor<8xf32>
  %s0 = arith.mulf %f0, %f0 : tensor<8xf32>
  %t0 = arith.mulf %s0, %h : tensor<8xf32>
  %u0 = arith.subf %c, %t0 : tensor<8xf32>
  %f1 = arith.mulf %u0, %f0 : tensor<8xf32>
  %s1 = arith.mulf %f1, %f1 : tensor<8xf32>
  %t1 = arith.mulf %s1, %h : tensor<8xf32>
  %u1 = arith.subf %c, %t1 : tensor<8xf32>
  %f2 = arith.mulf %u1, %f1 : tensor<8xf32>
  %g = arith.mulf %f2, %h : tensor<8xf32>
  %r = arith.addf %g, %h : tensor<8xf32>
  return %r : tensor<8xf32>
}
