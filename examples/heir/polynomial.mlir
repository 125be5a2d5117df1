// heir-opt polynomial.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @polynomial(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %c0 = arith.constant dense<0.2502> : tensor<8xf32>
  %c1 = arith.constant dense<0.7944> : tensor<8xf32>
  %c2 = arith.constant dense<0.5514> : tensor<8xf32>
  %c3 = arith.constant dense<-0.5496> : tensor<8xf32>
  %c4 = arith.constant dense<-0.3997> : tensor<8xf32>
  %x2 = arith.mulf %x, %x : tensor<8xf32>
  %x3 = arith.mulf %x2, %x : tensor<8xf32>
  %x4 = arith.mulf %x2, %x2 : tensor<8xf32>
  %t1 = arith.mulf %x, %c1 : tensor<8xf32>
  %t2 = arith.mulf %x2, %c2 : tensor<8xf32>
  %t3 = arith.mulf %x3, %c3 : tensor<8xf32>
  %t4 = arith.mulf %x4, %c4 : tensor<8xf32>
  %s1 = arith.addf %t1, %c0 : tensor<8xf32>
  %s2 = arith.addf %s1, %t2 : tensor<8xf32>
  %s3 = arith.addf %s2, %t3 : tensor<8xf32>
  %s4 = arith.addf %s3, %t4 : tensor<8xf32>
  return %s4 : tensor<8xf32>
}
