"""Small programs in HEIR's generic form."""

from __future__ import annotations

from collections.abc import Sequence

Q = (1125899906826241, 1099511922689, 1099512938497)
P = (1152921504606994433,)


def ciphertext(level: int, bits: int = 40, size: int = 2, encoding: str | None = None) -> str:
    """The type of a ciphertext."""
    chain = ", ".join(f"{prime} : i64" for prime in Q)
    parts = "" if size == 2 else f", size = {size}"
    encoding = encoding or "#lwe.inverse_canonical_encoding"
    return (
        f"!lwe.lwe_ciphertext<plaintext_space = <ring = <coefficientType = f64, polynomialModulus = <1 + x**8192>>, "
        f"encoding = {encoding}<scaling_factor = {bits}>>, ciphertext_space = <ring = <coefficientType = "
        f"!rns.rns<!mod_arith.int<{Q[0]} : i64>>, polynomialModulus = <1 + x**8192>>, encryption_type = mix{parts}>, "
        f"key = <>, modulus_chain = <elements = <{chain}>, current = {level}>>"
    )


def plaintext(bits: int = 40) -> str:
    """The type of a plaintext."""
    return (
        "!lwe.lwe_plaintext<plaintext_space = <ring = <coefficientType = f64, polynomialModulus = <1 + x**8192>>, "
        f"encoding = #lwe.inverse_canonical_encoding<scaling_factor = {bits}>>>"
    )


STORAGE = f"!preprocessing.storage<{plaintext()}>"


def encode(result: str, operand: str, type_: str, bits: int = 40) -> str:
    """An encoding."""
    return (
        f'{result} = "lwe.rlwe_encode"({operand}) <{{encoding = #lwe.inverse_canonical_encoding<scaling_factor = '
        f"{bits}>, level = 1 : i64, scale = {bits} : i64}}> : ({type_}) -> {plaintext(bits)}"
    )


def function(
    name: str,
    inputs: Sequence[tuple[str, str]],
    body: Sequence[str],
    results: Sequence[tuple[str, str]],
    attributes: str = "",
) -> str:
    """A function with one block; each entry of the body is a line."""
    types = ", ".join(type_ for _, type_ in inputs)
    outputs = ", ".join(type_ for _, type_ in results)
    arguments = ", ".join(f"{value}: {type_}" for value, type_ in inputs)
    values = ", ".join(value for value, _ in results)
    lines = [
        f'"func.func"() <{{function_type = ({types}) -> ({outputs}), sym_name = "{name}"}}> ({{',
        f"^bb0({arguments}):" if inputs else "^bb0:",
        *body,
        f'"func.return"({values}) : ({outputs}) -> ()',
        f"}}) {{{attributes}}} : () -> ()",
    ]
    return "\n".join(lines) + "\n"


def module(
    *functions: str,
    log_degree: int = 13,
    q: Sequence[int] = Q,
    p: Sequence[int] = P,
    slots: int = 8,
    scheme: str | None = None,
) -> str:
    """A module with parameters; the functions start in line 2."""
    if scheme is None:
        scheme = (
            f"ckks.schemeParam = #ckks.scheme_param<logN = {log_degree}, Q = {list(q)}, P = {list(p)}, "
            "logDefaultScale = 40>, "
        )
    return (
        '"builtin.module"() ({\n'
        + "".join(functions)
        + f"}}) {{{scheme}scheme.requested_slot_count = {slots} : i64}} : () -> ()\n"
    )


def body(
    *lines: str, inputs: Sequence[str] = (), result: str = "%r", type_: str | None = None
) -> str:
    """A module with a function @f of ciphertexts %x and %y at level 2 and what else is given; the body begins in
    line 4."""
    arguments = [("%x", ciphertext(2)), ("%y", ciphertext(2))]
    arguments += [(f"%p{index}", extra) for index, extra in enumerate(inputs)]
    return module(function("f", arguments, lines, [(result, type_ or ciphertext(2))]))
