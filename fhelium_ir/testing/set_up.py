"""The configuration of a lit suite: tools on the PATH, substitutions, features."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import fhelium_ir
from fhelium_ir.testing.features import has_cuda

if TYPE_CHECKING:
    from lit.TestingConfig import TestingConfig

TOOLS = ("fhelium-opt", "fhelium-run")

PASSED_ON = (
    "HOME",
    "FHELIUM_CACHE_DIR",
    "TMPDIR",
    "TRITON_CACHE_DIR",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)
"""Settings of the machine that the tools' libraries need; all else is left out, as lit does."""


def configure(config: TestingConfig, config_file: str, *, tests: str = ".") -> None:
    """Set up a lit suite of `.mlir` files with RUN lines.

    - `fhelium-opt` and `fhelium-run` are those of the Python that runs lit, installed or not; its
      other programs, such as `filecheck`, come first on the PATH.
    - `%python` is that Python, `%root` the folder of the configuration file; the modules that lit
      itself can import can be imported in tests.
    - The feature `cuda` is there if the machine has a CUDA device: `// REQUIRES: cuda`.
    - Folders named `Inputs` hold files that tests read.

    Args:
        config: the object that lit hands to `lit.cfg.py`.
        config_file: the `__file__` of that `lit.cfg.py`.
        tests: the folder of the tests, relative to it, if they lie in one of their own.
    """
    import lit.formats

    root = os.path.dirname(os.path.abspath(config_file))
    config.name = os.path.basename(root)
    config.test_format = lit.formats.ShTest()
    config.suffixes = [".mlir"]
    config.excludes = ["Inputs", ".lit"]
    config.test_source_root = os.path.normpath(os.path.join(root, tests))
    config.test_exec_root = os.path.join(root, ".lit")
    _set_environment(config.environment)
    path = config.environment["PATH"]
    config.substitutions += [
        substitution for tool in TOOLS for substitution in _tool_substitution(tool, path)
    ]
    config.substitutions += [("%python", sys.executable), ("%root", root)]
    if has_cuda():
        config.available_features.add("cuda")


def _set_environment(environment: dict[str, str]) -> None:
    programs = os.path.dirname(sys.executable)
    environment["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
    # The tree that this module was found in comes first: an uninstalled tree works as well.
    tree = os.path.dirname(os.path.dirname(os.path.abspath(fhelium_ir.__file__)))
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = dict.fromkeys([tree, *(path for path in given if path)])
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment.update({name: os.environ[name] for name in PASSED_ON if name in os.environ})


def _tool_substitution(tool: str, path: str) -> list[tuple[str, str]]:
    """Nothing for a tool on the PATH; without one, its module stands for it."""
    if shutil.which(tool, path=path) is not None:
        return []
    module = f"fhelium_ir.tools.{tool.replace('-', '_')}"
    return [(rf"(?<![\w/.-]){tool}(?![\w.-])", f"{sys.executable} -m {module}")]
