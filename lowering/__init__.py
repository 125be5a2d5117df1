"""Lowerings from one stage to the next, and code emission (imported as `fhelium_ir.lowering`)."""
