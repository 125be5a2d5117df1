from fhelium_ir.testing import configure

configure(config, __file__)
