"""No pass of the default pipeline can be left out without a lit test that fails."""

from __future__ import annotations

import pytest

from tests.identity_passes import NONE, PASSES, missed_by, run_without


@pytest.mark.parametrize("pass_name", PASSES)
def test_a_lit_test_misses_the_pass(pass_name: str) -> None:
    path = missed_by(pass_name)
    assert path is not None, "every lit test passes without it"
    # It is the pass that the test misses: with it, the same tool passes.
    result = run_without(NONE, path)
    assert not result.code.isFailure, result.output
