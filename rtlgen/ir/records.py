"""Structures of the C program that are stored as one array a member."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordMember:
    """A member of a structure, or of a member of it.

    Members
    -------
    array: the array or scalar that holds it.
    accessor: how C names an element of it behind the name of the structure, with a `{}` for each
        subscript: `[{}].at.x`.
    limits: the smallest and largest value of a bit-field; None for what holds all of its type's.
    is_pointed_to: it is an array of its own, and the member a pointer to its first element.
    """

    array: str
    accessor: str
    limits: tuple[int, int] | None = None
    is_pointed_to: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A structure that the caller of the C function sees.

    Members
    -------
    name: its C name. c_type: of one structure; "" where it has no name.
    is_parameter: of the function; otherwise it outlives its calls.
    is_result: it is what the function returns.
    rank: how many subscripts name one structure; 0 where there is one.
    is_address: C passes its address, though there is one.
    """

    name: str
    c_type: str
    is_parameter: bool
    rank: int
    members: tuple[RecordMember, ...]
    is_result: bool = False
    is_address: bool = False
