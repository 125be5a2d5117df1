// heir-opt box_blur.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @box_blur(%x: tensor<4x4xf32> {secret.secret}) -> tensor<3x3xf32> {
  %k = arith.constant dense<[[0.2500, 0.2500], [0.2500, 0.2500]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3x3xf32>
  %r = linalg.conv_2d ins(%x, %k : tensor<4x4xf32>, tensor<2x2xf32>) outs(%zero : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
