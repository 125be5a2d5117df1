"""The CPU target: kernels as native loops, through xDSL's `llvm` dialect and LLVM's JIT."""
