"""A process that turns LLVM IR on its standard input into object files on its standard output.

Both ways, a message is its length (8 bytes, little endian) and its bytes; an empty answer says that
LLVM refused the text. The process ends with its input. It loads llvmlite and nothing else of size.
"""

from __future__ import annotations

import sys
from typing import IO

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu.binding import quick_object_code


def read_message(stream: IO[bytes]) -> bytes | None:
    """The next message, or None at the end of the stream, be it in the middle of a message."""
    header = stream.read(8)
    if len(header) < 8:
        return None
    length = int.from_bytes(header, "little")
    data = stream.read(length)
    return data if len(data) == length else None


def write_message(stream: IO[bytes], data: bytes) -> None:
    """Sends a message."""
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def main() -> None:
    """Answers every message; LLVM begins with a small text of no use, while nobody waits for it."""
    quick_object_code("define void @nothing() {\n  ret void\n}\n")
    while (text := read_message(sys.stdin.buffer)) is not None:
        try:
            answer = quick_object_code(text.decode())
        except FheliumError:
            answer = b""
        write_message(sys.stdout.buffer, answer)


if __name__ == "__main__":
    main()
