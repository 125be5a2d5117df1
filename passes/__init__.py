"""Passes: IR to IR within one stage, one pass per file (imported as `fhelium_ir.passes`)."""
