"""What a scheduler answers: bands of loops, sequences of parts, and statements at the leaves.

The forms are functions of the iterators as the C program has them (see `poly.edges`). A row of a
band gives every statement below it one affine time; a tiled row gives the number of the tile.

Reference: Verdoolaege, Guelton, Grosser, Cohen, "Schedule trees", IMPACT 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine

Mark: TypeAlias = Literal["parallel", "pipeline", "sequential"]
"""How the iterations of a loop relate, inside one iteration of the loops around it.

`parallel`: none depends on another. `pipeline`: they do, but a wavefront over the band makes an
inner loop parallel. `sequential`: neither.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """floor(form / size) for every statement: a time, or with size > 1 the number of a tile."""

    forms: Mapping[str, Affine]
    size: int = 1

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"a tile of {self.size} iterations")

    def text(self, statement: str) -> str:
        """Return the value as the loop bounds of a tiled program are written."""
        form = str(self.forms[statement])
        return form if self.size == 1 else f"floord({form}, {self.size})"


@dataclass(frozen=True, slots=True)
class Row:
    """One loop: the sum of its parts; of several parts for a wavefront.

    Members
    -------
    bound: (u, w) where no dependence of the band spans more than u*N + w, if that is known.
    """

    parts: tuple[Part, ...]
    mark: Mark = "sequential"
    bound: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a row has a part")

    @staticmethod
    def of(
        forms: Mapping[str, Affine],
        mark: Mark = "sequential",
        bound: tuple[int, int] | None = None,
    ) -> Row:
        """Return the row of one affine form a statement."""
        return Row((Part(forms),), mark, bound)

    @property
    def forms(self) -> Mapping[str, Affine]:
        """The affine forms of a row that is neither tiled nor a wavefront."""
        (part,) = self.parts
        if part.size > 1:
            raise ValueError("the row is tiled")
        return part.forms

    def text(self, statement: str) -> str:
        return " + ".join(part.text(statement) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Band:
    """Nested loops, outermost first; where `permutable`, in any order."""

    rows: tuple[Row, ...]
    permutable: bool
    child: Node

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("a band has a row")


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that run one after another."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A statement under all its loops."""

    statement: str


Node: TypeAlias = Band | Sequence | Leaf


def in_sequence(children: list[Node]) -> Node:
    """Return the children one after another; a single one is itself."""
    return children[0] if len(children) == 1 else Sequence(tuple(children))


def statements_of(node: Node) -> tuple[str, ...]:
    """Return the statements below `node`, in order."""
    match node:
        case Leaf(statement):
            return (statement,)
        case Band(child=child):
            return statements_of(child)
        case Sequence(children):
            return tuple(name for child in children for name in statements_of(child))


def bands_of(node: Node) -> Iterator[Band]:
    """Yield every band, a parent before its children."""
    match node:
        case Leaf():
            return
        case Band(child=child):
            yield node
            yield from bands_of(child)
        case Sequence(children):
            for child in children:
                yield from bands_of(child)


def time_vectors(node: Node) -> dict[str, tuple[Row | int, ...]]:
    """Return the rows and the places in sequences above every statement, outermost first."""
    vectors: dict[str, tuple[Row | int, ...]] = {}

    def visit(part: Node, prefix: tuple[Row | int, ...]) -> None:
        match part:
            case Leaf(statement):
                vectors[statement] = prefix
            case Band(rows, _, child):
                visit(child, (*prefix, *rows))
            case Sequence(children):
                for place, child in enumerate(children):
                    visit(child, (*prefix, place))

    visit(node, ())
    return vectors


def loop_rows(node: Node, statement: str) -> tuple[Row, ...]:
    """Return the loops around a statement, outermost first."""
    return tuple(row for row in time_vectors(node)[statement] if isinstance(row, Row))
