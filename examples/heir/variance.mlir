// heir-opt variance.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @variance(%x: tensor<16xf32> {secret.secret}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %n = arith.constant dense<0.0625> : tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %q = linalg.dot ins(%x, %x : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %mean = arith.mulf %s, %n : tensor<f32>
  %squares = arith.mulf %q, %n : tensor<f32>
  %square = arith.mulf %mean, %mean : tensor<f32>
  %r = arith.subf %squares, %square : tensor<f32>
  return %r : tensor<f32>
}
