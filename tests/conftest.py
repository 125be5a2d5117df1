"""Settings shared by all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from fhelium_ir.testing import has_cuda

# Shared machines are slow now and then: a deadline per example would make tests flaky. In CI the
# examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if has_cuda():
        return
    skip = pytest.mark.skip(reason="no CUDA device")
    for item in items:
        if item.get_closest_marker("cuda") is not None:
            item.add_marker(skip)
