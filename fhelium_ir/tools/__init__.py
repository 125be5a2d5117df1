"""Command-line tools: the outermost ring, which may import everything else."""
