"""What the names of a C program stand for, and in which scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.errors import FrontendError
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Storage
from rtlgen.ir.types import IntType, NumberType
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Variable:
    """An array, or with shape () a scalar, that is stored.

    Members
    -------
    name: unique in the kernel; the C name, or one derived from it when that is taken.
    values: of all elements, where they are given and never change; else ().
    """

    name: str
    element: NumberType
    shape: tuple[int, ...]
    storage: Storage
    is_const: bool
    span: Span
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScalarInput:
    """A scalar parameter of the function."""

    name: str
    type: NumberType
    span: Span


@dataclass(frozen=True, slots=True)
class NamedConstant:
    """An enumeration constant, a constant scalar, or a parameter fixed by `-D`."""

    name: str
    value: int
    type: NumberType
    span: Span


@dataclass(frozen=True, slots=True)
class ActiveIterator:
    """The variable of an enclosing loop.

    Members
    -------
    loop: line of its place; None where the loop is only looked at.
    """

    name: str
    type: IntType
    span: Span
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function. `definition` is None when only a prototype is known."""

    name: str
    span: Span
    definition: c_ast.FuncDef | None


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A subscript that is no affine function of the iterators, as the text has it."""

    value: Value
    text: str


Index: TypeAlias = Affine | LookedUp


@dataclass(frozen=True, slots=True)
class Held:
    """A subscript that stands in a variable, where it was put when a pointer was set to it."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class View:
    """A pointer that stays where it points to: to an array that has a name, or a part of one.

    Members
    -------
    fixed: the leading subscripts of the place that it points to. What is looked up is so by the
        statement in which the view is used.
    offset: what is added to the subscript behind them.
    is_whole: it points to the whole variable.
    """

    name: str
    variable: Variable
    fixed: tuple[Index | Held, ...]
    offset: Index | Held
    is_const: bool
    is_whole: bool = False


@dataclass(slots=True)
class Slot:
    """A scalar of a function that is carried out on expressions; `value` None is not yet set."""

    name: str
    type: NumberType
    span: Span
    value: Value | None


@dataclass(frozen=True, slots=True)
class Unusable:
    """A declaration that is refused when, and only when, it is used."""

    error: FrontendError


Symbol: TypeAlias = (
    Variable | ScalarInput | NamedConstant | ActiveIterator | Function | View | Slot | Unusable
)


class Scopes:
    """The nested scopes of names, and the unique names of what is stored."""

    def __init__(self) -> None:
        self._scopes: list[dict[str, Symbol]] = [{}]
        self._taken: set[str] = set()
        self._reserved: frozenset[str] = frozenset()
        self._iterators: list[str] = []

    def declare(self, c_name: str, symbol: Symbol) -> None:
        """Bind `c_name` in the innermost scope."""
        self._scopes[-1][c_name] = symbol

    def is_declared_here(self, c_name: str) -> bool:
        """Return whether the innermost scope binds `c_name`."""
        return c_name in self._scopes[-1]

    def lookup(self, c_name: str) -> Symbol | None:
        """Return what `c_name` stands for, or None."""
        for scope in reversed(self._scopes):
            if c_name in scope:
                return scope[c_name]
        return None

    def stored(self, c_name: str) -> Variable | None:
        """Return the variable that `c_name` stands for, if it stands for one."""
        symbol = self.lookup(c_name)
        if isinstance(symbol, View):
            return symbol.variable
        return symbol if isinstance(symbol, Variable) else None

    def sees(self, variable: str) -> bool:
        """Return whether a name in sight stands for a variable, or for a part of it."""
        return any(
            (symbol.variable if isinstance(symbol, View) else symbol).name == variable
            for scope in self._scopes
            for symbol in scope.values()
            if isinstance(symbol, Variable | View)
        )

    def reserve(self, c_names: Iterable[str]) -> None:
        """Keep names for the parameters of the kernel."""
        self._reserved = frozenset(c_names)

    def claim(self, c_name: str, is_parameter: bool = False) -> str:
        """Return a unique name for something stored, and reserve it."""
        if is_parameter:
            self._reserved -= {c_name}
        name = self._free_name(c_name)
        self._taken.add(name)
        return name

    @contextmanager
    def block(self) -> Iterator[None]:
        """Open a scope."""
        self._scopes.append({})
        try:
            yield
        finally:
            self._scopes.pop()

    @contextmanager
    def function(self) -> Iterator[None]:
        """Open the scope of a called function: around it is the file, not the caller."""
        caller = self._scopes
        self._scopes = [caller[0], {}]
        try:
            yield
        finally:
            self._scopes = caller

    @contextmanager
    def iterating(self, c_name: str, iterator: ActiveIterator) -> Iterator[None]:
        """Open the scope of a loop's body."""
        self._scopes.append({c_name: iterator})
        self._iterators.append(iterator.name)
        try:
            yield
        finally:
            self._iterators.pop()
            self._scopes.pop()

    def iterator_name(self, c_name: str) -> str:
        """Return a name that no enclosing loop and nothing stored has."""
        return self._free_name(c_name)

    def _free_name(self, c_name: str) -> str:
        name, number = c_name, 0
        while name in self._taken or name in self._reserved or name in self._iterators:
            number += 1
            name = f"{c_name}_{number}"
        return name
