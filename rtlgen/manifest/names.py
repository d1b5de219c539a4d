"""Names that a C program gives, made to differ from each other and from names that are taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Namer:
    """Give out names that differ from each other and from a reserved set.

    Parameters
    ----------
    ignores_case: names that differ in capitals alone are the same.
    """

    def __init__(self, reserved: Iterable[str] = (), *, ignores_case: bool = False) -> None:
        self._key = str.lower if ignores_case else str
        self._taken = {self._key(name) for name in reserved}

    def name(self, wanted: str) -> str:
        """Return `wanted`, or with a number behind it when that is taken."""
        return self.group(wanted, ("",))[0]

    def group(self, wanted: str, suffixes: Sequence[str]) -> tuple[str, ...]:
        """Return wanted + suffix for every suffix, all with the same number if one is needed."""
        number = 1
        while True:
            base = wanted if number == 1 else f"{wanted}_{number}"
            names = tuple(f"{base}{suffix}" for suffix in suffixes)
            keys = {self._key(name) for name in names}
            if not self._taken & keys:
                self._taken |= keys
                return names
            number += 1
