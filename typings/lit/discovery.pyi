from collections.abc import Sequence

from lit.LitConfig import LitConfig
from lit.Test import Test

def find_tests_for_inputs(lit_config: LitConfig, inputs: Sequence[str]) -> list[Test]: ...
