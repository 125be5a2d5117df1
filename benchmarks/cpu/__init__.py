"""What the benchmark of the CPU target is made of."""
