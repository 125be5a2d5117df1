"""Passes and a dialect for fhelium-opt: sums over slots, and fewer rotations."""
