"""Target `python`: a program as one Python file that needs torch and triton only."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TextIO

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host, kernel
from fhelium_ir.lowering.host_printer import host_functions, host_source
from fhelium_ir.lowering.triton.names import symbol_identifier
from fhelium_ir.lowering.triton.printer import argument_type, definition, header, warps_of

_HEADER = '''\
"""A compiled program on encrypted data: kernels, host programs, and what loads and runs them.

    python FILE.py INPUTS.safetensors OUTPUTS.safetensors [FUNCTION]

reads the named inputs, runs, and writes result0, result1, ... Tables, keys and plaintexts are read from the file of the
same name that ends in .safetensors. Without a CUDA device the kernels run under Triton's interpreter, which is slow.
From Python: `run, arguments = load()`, then `run(*tensors)`.
"""

import os
import sys
from pathlib import Path

import torch

# Compiled kernels, if there are any for this GPU, lie beside this file.
if Path(__file__).with_suffix(".triton").is_dir():
    os.environ.setdefault("TRITON_CACHE_DIR", str(Path(__file__).with_suffix(".triton")))
if not torch.cuda.is_available() and "--compile" not in sys.argv:
    os.environ.setdefault("TRITON_INTERPRET", "1")

'''

_LOADER = '''

def read_tensors(path, device):
    """The tensors of a safetensors file: 8 bytes with the size of a JSON header, the header, then their bytes."""
    data = bytearray(Path(path).read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    dtypes = {"I32": torch.int32, "I64": torch.int64, "F64": torch.float64}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            dtype = dtypes[entry["dtype"]]
            flat = torch.frombuffer(
                data, dtype=dtype, count=(end - begin) // dtype.itemsize, offset=start + begin
            )
            tensors[name] = flat.reshape(entry["shape"]).to(device)
    return tensors


def write_tensors(path, tensors):
    """Writes int32 and int64 tensors as a safetensors file."""
    header, parts, offset = {}, [], 0
    for name, tensor in tensors.items():
        words = tensor.cpu().contiguous()
        part = ctypes.string_at(words.data_ptr(), words.numel() * words.element_size())
        kind = "I32" if tensor.dtype == torch.int32 else "I64"
        entry = {"dtype": kind, "shape": list(tensor.shape)}
        header[name] = {**entry, "data_offsets": [offset, offset + len(part)]}
        parts.append(part)
        offset += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *parts]))


def kernel(name, grid):
    """A function that launches a kernel."""
    function, num_warps, types = KERNELS[name]
    launcher = function[grid]
    widths = {i: int(type_[1:]) for i, type_ in enumerate(types) if not type_.startswith("*")}

    def launch(*arguments):
        if widths:
            # The kernels take unsigned words.
            arguments = [
                value % (1 << widths[i]) if i in widths else value
                for i, value in enumerate(arguments)
            ]
        launcher(*arguments, num_warps=num_warps, enable_fp_fusion=False)

    return launch


def load(constants=None, device=None, name=None):
    """The function `run(*inputs)` of a program, and the name, shape and dtype of its arguments."""
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if constants is None:
        constants = Path(__file__).with_suffix(".safetensors")
    prepare, arguments = PROGRAMS[name or next(iter(PROGRAMS))]
    prepared = prepare(Host(device, read_tensors(constants, device), kernel, None))

    def run(*inputs):
        if len(inputs) != len(arguments):
            raise TypeError(f"the program takes {len(arguments)} inputs, found {len(inputs)}")
        for tensor, (label, shape, dtype) in zip(inputs, arguments):
            if isinstance(tensor, int) and not shape:
                continue
            found = (tuple(tensor.shape), tensor.dtype, tensor.device.type)
            if found != (shape, DTYPES[dtype], device.type) or not tensor.is_contiguous():
                raise TypeError(f"input {label!r} must be {dtype} of shape {shape} on {device}")
        return prepared(*inputs)

    return run, arguments


def compile_for(backend, arch, warp_size):
    """Compiles every kernel for a GPU, which need not be present."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    target = GPUTarget(backend, int(arch) if arch.isdigit() else arch, int(warp_size))
    for function, num_warps, types in KERNELS.values():
        aligned = {
            (i,): [["tt.divisibility", 16]] for i, t in enumerate(types) if t.startswith("*")
        }
        source = ASTSource(function, dict(zip(function.arg_names, types)), {}, aligned)
        options = {"num_warps": num_warps, "enable_fp_fusion": False}
        triton.compile(source, target=target, options=options)


def main(arguments):
    if arguments[:1] == ["--compile"] and len(arguments) == 4:
        compile_for(*arguments[1:])
        return 0
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 1
    run, expected = load(name=arguments[2] if len(arguments) == 3 else None)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    inputs = read_tensors(arguments[0], device)
    missing = [label for label, _, _ in expected if label not in inputs]
    if missing:
        print(f"error: inputs are missing: {', '.join(missing)}", file=sys.stderr)
        return 1
    results = run(*(inputs[label] for label, _, _ in expected))
    write_tensors(arguments[1], {f"result{i}": tensor for i, tensor in enumerate(results)})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''


def print_standalone(module: ModuleOp, stream: TextIO) -> None:
    """Target `python`: every host program of a module, with the kernels."""
    kernels = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
    stream.write(standalone_source(kernels, host_functions(module)))


def standalone_source(kernels: Sequence[kernel.FuncOp], functions: Sequence[func.FuncOp]) -> str:
    """One Python file. Symbols of the program appear in string literals and as identifiers that spell them out.

    Args:
        kernels: the kernels that the host programs launch, without `zq` ops.
        functions: the host programs; the first is the one that runs where none is named.

    Raises:
        FheliumError: there is no host program, or one calls an implementation.
    """
    if not functions:
        raise FheliumError("the module has no host program; run convert-regions-to-kernels first")
    for function in functions:
        for op in function.walk():
            if isinstance(op, host.CallOp):
                raise FheliumError(
                    f"'{function.sym_name.data}' calls @{op.callee.string_value()}: what an "
                    "implementation executes as a whole cannot be exported",
                    location_of(op),
                )
    parts = [_HEADER, header(kernels)]
    entries: list[str] = []
    names: list[str] = []
    for one in kernels:
        parts.append(definition(one))
        name = symbol_identifier(one.sym_name.data)
        types = tuple(argument_type(type_) for type_ in one.function_type.inputs)
        names.append(name)
        entries.append(f"    {one.sym_name.data!r}: ({name}, {warps_of(one)}, {types!r}),\n")
    parts.append(f"\n\nKERNELS = {{\n{''.join(entries)}}}\n")
    if names:
        # A kernel's name must not hide a name that the text below uses.
        parts.append(f"del {', '.join(names)}\n")
    parts.append(
        "\nimport contextlib\nimport ctypes\nimport json\nfrom collections.abc import Callable, Mapping\n\n"
    )
    parts.append("import os\nimport sys\nfrom pathlib import Path\n\nimport torch\n\n")
    parts.append(_runtime())
    programs: list[str] = []
    for index, function in enumerate(functions):
        parts.append(f"\n\n{host_source(function, f'prepare_{index}')}")
        programs.append(
            f"    {function.sym_name.data!r}: (prepare_{index}, {_interface(function)}),\n"
        )
    parts.append(f"\n\nPROGRAMS = {{\n{''.join(programs)}}}\n")
    parts.append(_LOADER)
    return "".join(parts)


def _runtime() -> str:
    """The source of the host's runtime, from its first name on."""
    from fhelium_ir.backend import host_runtime

    text = inspect.getsource(host_runtime)
    return text[text.index("DTYPES =") :]


def _interface(function: func.FuncOp) -> str:
    from fhelium_ir.backend.program import argument_name, argument_spec

    specs = [
        argument_spec(type_, argument_name(function, index))
        for index, type_ in enumerate(function.function_type.inputs)
    ]
    return repr([(spec.name, spec.shape, spec.dtype) for spec in specs])
