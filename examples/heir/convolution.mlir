// heir-opt convolution.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @convolution(%x: tensor<4x4xf32> {secret.secret}) -> tensor<2x2xf32> {
  %k = arith.constant dense<[[-0.4144, -0.2632, 0.3013], [0.0822, -0.4059, -0.0669], [-0.0209, -0.3403, 0.2346]]> : tensor<3x3xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %r = linalg.conv_2d ins(%x, %k : tensor<4x4xf32>, tensor<3x3xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
