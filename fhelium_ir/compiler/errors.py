"""The error that users see, and the hint for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable


class FheliumError(Exception):
    """An error meant for the user: tools print it as `error: ...` and exit with code 1.

    Attributes:
        message: what is wrong, in one sentence, without the location.
        location: `file:line:column` of the source text it is about, or None.
        note: further lines to show below the message, such as a window of the IR, or None.
    """

    def __init__(self, message: str, location: str | None = None, note: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.note = note

    def __str__(self) -> str:
        return self.message if self.location is None else f"{self.location}: {self.message}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known name that is most like `name`, or an empty text."""
    # Imported here because only the error path needs it, and start-up time counts.
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def unknown_name(kind: str, name: str, known: Iterable[str], owner: str = "") -> FheliumError:
    """The error for a name that does not exist, with the nearest existing name as a hint.

    Args:
        kind: what the name should be, such as `pass`.
        known: the names that exist.
        owner: what the names belong to, such as `pass 'cse'`; put in front of the message.
    """
    names = sorted(known)
    listing = f"; known: {', '.join(names)}" if names else "; there are none"
    start = f"{owner}: " if owner else ""
    return FheliumError(f"{start}unknown {kind} '{name}'{nearest(name, names) or listing}")
