// heir-opt weighing.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @weighing(%w: tensor<8xf32>, %x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = arith.mulf %x, %w : tensor<8xf32>
  %b = arith.addf %a, %y : tensor<8xf32>
  %c = arith.subf %y, %w : tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}
