"""Shell completion: a script that completes options, names and files of a tool's command line.

The script is made from the tool's argument parser. What the value of an option is follows from
its metavar: `PASSES` is a list by commas of passes and pipelines, `PASS` a pass, `TARGET` a
target, `SHELL` and the like have `choices`; everything else completes to files.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from fhelium_ir import universe
from fhelium_ir.tools.command_line import ArgumentParser

SHELLS = ("bash", "fish", "zsh")


@dataclass(frozen=True)
class Value:
    """The value of an option: the words it can be (none: a file), and whether it is a list."""

    words: tuple[str, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Option:
    """An option: its spellings, its help, and its value or None for a switch."""

    names: tuple[str, ...]
    help: str
    value: Value | None


def completion_script(shell: str, parser: ArgumentParser) -> str:
    """The script for one of SHELLS; it defines the completion when the shell reads it."""
    options = [_option(action) for action in parser.optional_actions()]
    function = f"_{parser.prog.replace('-', '_')}"
    if shell == "bash":
        return _bash(parser.prog, function, options)
    if shell == "zsh":
        return _zsh(parser.prog, function, options)
    return _fish(parser.prog, function, options)


def _option(action: argparse.Action) -> Option:
    help_text = " ".join((action.help or "").split()).replace("%%", "%")
    return Option(tuple(action.option_strings), help_text, _value(action))


def _value(action: argparse.Action) -> Value | None:
    if action.nargs == 0:
        return None
    if action.choices is not None:
        return Value(tuple(str(choice) for choice in action.choices))
    match action.metavar:
        case "PASSES":
            return Value((*universe.PIPELINES, *universe.PASSES), is_list=True)
        case "PASS":
            return Value(tuple(universe.PASSES))
        case "TARGET":
            return Value(tuple(universe.TARGETS))
        case _:
            return Value(())


def _bash(tool: str, function: str, options: Sequence[Option]) -> str:
    cases: list[str] = []
    for option in options:
        if option.value is None:
            continue
        cases.append(f"        {'|'.join(option.names)})")
        words = " ".join(option.value.words)
        if option.value.is_list:
            cases += [
                '            [[ $word == *,* ]] && before="${word%,*},"',
                "            compopt -o nospace",
                f'            mapfile -t COMPREPLY < <(compgen -P "$before" -W "{words}" '
                '-- "${word##*,}")',
            ]
        elif option.value.words:
            cases.append(f'            mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$word")')
        cases.append("            return ;;")
    names = " ".join(name for option in options for name in option.names)
    return "\n".join(
        [
            f"# Completion of {tool} for bash; to use it now: source <({tool} --completion bash)",
            f"{function}() {{",
            '    local word="${COMP_WORDS[COMP_CWORD]}" option="${COMP_WORDS[COMP_CWORD-1]}"',
            '    local before=""',
            "    # bash makes three words of --option=value.",
            '    if [[ $word == "=" ]]; then',
            '        word=""',
            '    elif [[ $option == "=" ]]; then',
            '        option="${COMP_WORDS[COMP_CWORD-2]}"',
            "    fi",
            "    COMPREPLY=()",
            "    case $option in",
            *cases,
            "    esac",
            "    # No word fits: bash completes a file name.",
            "    if [[ $word == -* ]]; then",
            f'        mapfile -t COMPREPLY < <(compgen -W "{names}" -- "$word")',
            "    fi",
            "}",
            f"complete -o default -F {function} {tool}",
            "",
        ]
    )


def _zsh(tool: str, function: str, options: Sequence[Option]) -> str:
    def action(value: Value | None) -> str:
        if value is None:
            return ""
        if value.is_list:
            return f":list:_values -s , pass {' '.join(value.words)}"
        return f":value:({' '.join(value.words)})" if value.words else ":file:_files"

    lines: list[str] = []
    for option in options:
        help_text = option.help.replace("'", "").replace("[", "(").replace("]", ")")
        # `+` lets a value follow a short option at once, `=` a long one after an equals sign.
        for name in option.names:
            glue = "" if option.value is None else "=" if name.startswith("--") else "+"
            shown = help_text.replace(":", "\\:")
            lines.append(f"        '*{name}{glue}[{shown}]{action(option.value)}' \\")
    return "\n".join(
        [
            f"#compdef {tool}",
            f"# Completion of {tool} for zsh: source <({tool} --completion zsh), or save it as",
            f"# _{tool} in a folder of $fpath.",
            f"{function}() {{",
            "    _arguments -S \\",
            *lines,
            "        '1:file:_files'",
            "}",
            f'if [ "$funcstack[1]" = "_{tool}" ]; then',
            f'    {function} "$@"',
            "else",
            f"    compdef {function} {tool}",
            "fi",
            "",
        ]
    )


def _fish(tool: str, function: str, options: Sequence[Option]) -> str:
    lines = [
        f"# Completion of {tool} for fish: {tool} --completion fish | source",
        f"function _{function}_list",
        "    set -l token (commandline -ct | string replace -r '^--?[a-z-]+=' '')",
        "    set -l before (string match -r '^.*,' -- $token)",
        "    for name in $argv",
        '        echo "$before$name"',
        "    end",
        "end",
    ]
    for option in options:
        parts = [f"complete -c {tool}"]
        parts += [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
        if option.value is not None:
            words = " ".join(option.value.words)
            if option.value.is_list:
                parts.append(f"-x -a '(_{function}_list {words})'")
            else:
                parts.append(f"-x -a '{words}'" if words else "-r")
        help_text = option.help.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(" ".join([*parts, f"-d '{help_text}'"]))
    return "\n".join([*lines, ""])
