"""The values that `-D` gives to scalar parameters."""

from __future__ import annotations

from rtlgen.errors import Label
from rtlgen.frontend.constants import integer_constant
from rtlgen.frontend.errors import BadDefinition
from rtlgen.ir.types import IntType
from rtlgen.source import Span


def fixed_value(name: str, text: str, type_: IntType, span: Span) -> int:
    """Return the value that `-D` gives to a parameter."""
    negative = text.strip().startswith("-")
    try:
        value, _ = integer_constant(text.strip().removeprefix("-").strip())
    except ValueError as error:
        raise BadDefinition(
            f"-D {name}={text} gives the parameter `{name}` no value",
            labels=(Label(span, str(error)),),
            help=f"write -D {name}=VALUE with an integer constant",
        ) from error
    value = -value if negative else value
    if not type_.minimum <= value <= type_.maximum:
        raise BadDefinition(
            f"-D {name}={text} does not fit the parameter `{name}`",
            labels=(Label(span, f"is {type_}, {type_.minimum} to {type_.maximum}"),),
        )
    return value
