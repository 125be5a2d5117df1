// heir-opt matvec.mlir '--annotate-module=backend=lattigo scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @matvec(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %m = arith.constant dense<[[0.0118, 0.4505, -0.3558, 0.4486, -0.1882, -0.0767, 0.3277, -0.0908], [0.0496, -0.4724, 0.2535, 0.0381, -0.1703, 0.2884, -0.1968, -0.0465], [-0.3660, -0.0969, -0.2965, -0.2377, 0.2504, -0.2196, -0.0148, 0.4807], [0.4617, 0.2248, 0.0412, -0.2231, -0.3393, 0.4699, 0.0161, -0.3841], [0.1235, 0.2767, 0.1130, 0.4173, -0.4604, 0.0286, -0.0407, -0.4377], [0.1413, 0.3526, 0.0929, -0.2399, 0.3399, 0.0095, 0.0109, 0.2530], [-0.3521, 0.3196, 0.1833, 0.2871, -0.3084, 0.3024, -0.3087, -0.4184], [0.3552, 0.3613, 0.3765, -0.0281, -0.2260, -0.4929, 0.1457, 0.2199]]> : tensor<8x8xf32>
  %b = arith.constant dense<[0.3356, -0.2181, -0.2848, 0.1393, 0.3051, 0.4637, -0.3495, -0.0178]> : tensor<8xf32>
  %r = linalg.matvec ins(%m, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
