"""What a machine can do, found out quickly."""

from __future__ import annotations

import os


def has_cuda() -> bool:
    """Whether the machine has a CUDA device.

    Importing torch to ask for one would cost seconds; the driver's device files tell as well.
    """
    return os.path.exists("/dev/nvidiactl") and os.environ.get("CUDA_VISIBLE_DEVICES") != ""
