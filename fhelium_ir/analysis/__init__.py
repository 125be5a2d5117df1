"""Reusable analyses: facts about values that passes ask for and nobody stores in the IR."""
