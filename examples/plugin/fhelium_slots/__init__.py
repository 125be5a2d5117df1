"""Passes and a dialect for fhelium-opt: differences of slots, and fewer rotations."""
