// heir-opt gradient.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @gradient(%x: tensor<4x4xf32> {secret.secret}) -> tensor<3x3xf32> {
  %a = arith.constant dense<[[0.5000, 0.0000], [0.0000, -0.5000]]> : tensor<2x2xf32>
  %d = arith.constant dense<[[0.0000, 0.5000], [-0.5000, 0.0000]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3x3xf32>
  %ga = linalg.conv_2d ins(%x, %a : tensor<4x4xf32>, tensor<2x2xf32>) outs(%zero : tensor<3x3xf32>) -> tensor<3x3xf32>
  %gd = linalg.conv_2d ins(%x, %d : tensor<4x4xf32>, tensor<2x2xf32>) outs(%zero : tensor<3x3xf32>) -> tensor<3x3xf32>
  %sa = arith.mulf %ga, %ga : tensor<3x3xf32>
  %sd = arith.mulf %gd, %gd : tensor<3x3xf32>
  %r = arith.addf %sa, %sd : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
