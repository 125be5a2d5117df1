"""lit set-up: `lit tests/lit` runs every FileCheck test; pytest runs the same tests one by one."""

import os
import shutil
import sys

import lit.formats

ROOT = os.path.dirname(os.path.abspath(__file__))

config.name = "fhelium-ir"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
# The tests lie in tests/lit; its subfolders Inputs hold files that tests read.
config.test_source_root = ROOT
config.test_exec_root = os.path.join(ROOT, ".lit")
config.excludes = ["Inputs"]

# The tools of the running Python come first, then this tree: an uninstalled tree works as well.
config.environment["PATH"] = os.pathsep.join(
    [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
)
config.environment["PYTHONPATH"] = os.pathsep.join(
    p for p in (ROOT, os.environ.get("PYTHONPATH", "")) if p
)
# Settings of the machine that the tools' libraries need; all else is left out, as lit does.
PASSED_ON = (
    "HOME",
    "TMPDIR",
    "TRITON_CACHE_DIR",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)
for variable in PASSED_ON:
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]


for tool in ("fhelium-opt", "fhelium-run"):
    if shutil.which(tool, path=config.environment["PATH"]) is None:
        module = "fhelium_ir.tools." + tool.replace("-", "_")
        config.substitutions.append(
            (rf"(?<![\w/.-]){tool}(?![\w.-])", f"{sys.executable} -m {module}")
        )
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%root", ROOT))

# Importing torch to ask for a device would cost seconds; the driver's device files tell as well.
if os.path.exists("/dev/nvidiactl") and os.environ.get("CUDA_VISIBLE_DEVICES") != "":
    config.available_features.add("cuda")
