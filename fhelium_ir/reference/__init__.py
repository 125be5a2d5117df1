"""Exact interpreters of every stage: the oracle. Imports dialects only."""
