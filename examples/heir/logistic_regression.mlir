// heir-opt logistic_regression.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @logistic_regression(%x: tensor<16xf32> {secret.secret}, %w: tensor<16xf32> {secret.secret}) -> tensor<f32> {
  %b = arith.constant dense<-0.1730> : tensor<f32>
  %c0 = arith.constant dense<0.5> : tensor<f32>
  %c1 = arith.constant dense<0.2159> : tensor<f32>
  %c3 = arith.constant dense<-0.0082> : tensor<f32>
  %h = linalg.dot ins(%x, %w : tensor<16xf32>, tensor<16xf32>) outs(%b : tensor<f32>) -> tensor<f32>
  %h2 = arith.mulf %h, %h : tensor<f32>
  %a = arith.mulf %h2, %c3 : tensor<f32>
  %d = arith.addf %a, %c1 : tensor<f32>
  %e = arith.mulf %d, %h : tensor<f32>
  %r = arith.addf %e, %c0 : tensor<f32>
  return %r : tensor<f32>
}
