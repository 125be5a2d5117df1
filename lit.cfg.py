"""lit set-up: `lit tests/lit` runs every FileCheck test; pytest runs the same tests one by one."""

import os
import sys

# lit may run in an environment in which this tree is not installed.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fhelium_ir.testing import configure

configure(config, __file__)
config.name = "fhelium-ir"
