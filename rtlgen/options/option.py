"""The description of one option, from which its forms on the command line and in Python follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, replace
from typing import Any

_DESCRIPTION = "option"


def _as_given(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of an option beside its type.

    Members
    -------
    flag: its name on the command line. python: its name as an argument of `rtlgen.compile`.
    help: what it means.
    choices: the values it has, if it has only some. low, high: the least and the largest one.
    metavar: what stands for a value in the help of the command line.
    repeated: whether it may be given several times; its texts are read together.
    read: the value of what the command line gives; raises BadOption.
    take: the value of what Python gives; raises ValueError.
    example: as an argument in Python, where that is no plain word or number.
    shown_default: what is used where the option is not given, if that is no value.
    """

    flag: str
    help: str
    python: str
    choices: tuple[Any, ...] = ()
    low: int | None = None
    high: int | None = None
    metavar: str | None = None
    repeated: bool = False
    read: Callable[[Any], Any] = _as_given
    take: Callable[[Any], Any] = _as_given
    example: str = ""
    shown_default: str = ""
    member: str = ""
    default: Any = None

    def require(self, value: Any) -> None:
        """Raise a ValueError where an option has no such value."""
        if value is None and self.default is None:
            return
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.python} is {value!r}, not one of {self.choices}")
        too_small = self.low is not None and value < self.low
        if too_small or (self.high is not None and value > self.high):
            limits = f"at least {self.low}" if self.high is None else f"{self.low} to {self.high}"
            raise ValueError(f"{self.python} is {value}, not {limits}")


def option(
    flag: str,
    help: str,
    *,
    default: Any = None,
    factory: Callable[[], Any] | None = None,
    python: str | None = None,
    **description: Any,
) -> Any:
    """Return a member of a dataclass that is an option."""
    name = python or flag.lstrip("-").replace("-", "_")
    described = {_DESCRIPTION: Option(flag, help, name, **description)}
    if factory is not None:
        return field(default_factory=factory, metadata=described)
    return field(default=default, metadata=described)


def described(members: Sequence[Field[Any]]) -> tuple[Option, ...]:
    """Return the options that the members of a dataclass are."""
    found = []
    for member in members:
        factory = member.default_factory
        default = member.default if factory is MISSING else factory()
        found.append(replace(member.metadata[_DESCRIPTION], member=member.name, default=default))
    return tuple(found)
