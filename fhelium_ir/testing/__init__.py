"""The lit set-up of this project, for outside projects as well.

A project that tests its passes with lit needs three lines in its `lit.cfg.py`:

    from fhelium_ir.testing import configure

    configure(config, __file__)

and, to run each lit file as one pytest item, one line in a test module (see `items`):

    test_lit = lit_tests(Path(__file__).parent / "lit")
"""

from fhelium_ir.testing.features import has_cuda
from fhelium_ir.testing.set_up import configure

__all__ = ["configure", "has_cuda"]
