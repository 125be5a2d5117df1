"""The garbage collector is as it was when the work is done."""

from __future__ import annotations

import gc

import pytest

from fhelium_ir.compiler.collection import no_collection


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_put_back(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ValueError, match="inside"), no_collection():
            assert not gc.isenabled()
            raise ValueError("inside")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
