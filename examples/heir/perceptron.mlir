// heir-opt perceptron.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @perceptron(%x: tensor<8xf32> {secret.secret}) -> tensor<4xf32> {
  %w1 = arith.constant dense<[[0.2221, -0.1279, 0.0619, 0.1665, 0.1296, 0.2492, 0.2162, 0.2509], [-0.2840, -0.0377, -0.0090, -0.2609, -0.2966, 0.1984, 0.2900, 0.1708], [-0.1106, 0.1232, -0.1205, 0.1444, -0.1322, 0.1696, 0.2926, 0.2917], [0.2297, 0.2477, 0.1249, 0.0327, 0.2539, -0.2462, -0.0779, 0.0636], [-0.0134, 0.1757, -0.1829, -0.2626, -0.2241, 0.2777, -0.2203, -0.1643], [-0.0738, 0.0741, 0.1693, -0.2528, 0.2587, 0.1577, -0.1074, -0.1864], [0.0576, 0.0568, -0.1395, -0.1984, 0.1599, 0.1036, 0.1801, -0.1683], [0.1339, -0.2552, -0.2956, -0.1923, 0.1692, 0.0240, 0.0700, 0.0555]]> : tensor<8x8xf32>
  %b1 = arith.constant dense<[0.0272, -0.0354, 0.0441, -0.0971, -0.0246, -0.0891, -0.0748, 0.0809]> : tensor<8xf32>
  %w2 = arith.constant dense<[[0.0615, 0.1746, 0.0634, 0.0431, 0.1770, 0.0739, 0.0062, 0.0339], [0.0414, -0.0948, 0.1007, -0.0559, 0.0927, -0.0091, 0.1491, 0.1158], [-0.2763, 0.1693, 0.2380, -0.1014, 0.1398, 0.2072, -0.0007, -0.2225], [0.1389, 0.2032, -0.1131, -0.1689, 0.1600, 0.0097, -0.2910, -0.1826]]> : tensor<4x8xf32>
  %b2 = arith.constant dense<[-0.0565, 0.0163, 0.0118, 0.0034]> : tensor<4xf32>
  %h = linalg.matvec ins(%w1, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%b1 : tensor<8xf32>) -> tensor<8xf32>
  %a = arith.mulf %h, %h : tensor<8xf32>
  %r = linalg.matvec ins(%w2, %a : tensor<4x8xf32>, tensor<8xf32>) outs(%b2 : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
