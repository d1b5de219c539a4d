"""Judge whether OLS, outer loop shifting, brings the nests of a program into one perfect nest.

OLS turns the constant that separates two nests into a shift of their outermost loop. It is the
method that MF3 extends; this module decides where its published conditions hold, for comparison.

Reference
---------
OLS: Kato and Seto, IPSJ T-SLDM 6, 2013. The conditions, as MF3 states them: the nests are adjacent,
each one is perfect, and all have equal trip counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Dim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, StatementNode, walk_tree
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.legality import find_violation

OlsVerdict: TypeAlias = Literal["works", "fails", "not needed"]
OlsRestriction: TypeAlias = Literal["adjacent", "perfect", "equal trip counts"]


@dataclass(frozen=True, slots=True)
class OlsApplicability:
    """The verdict on one program.

    Members
    -------
    broken: the restrictions that the program does not meet, when OLS fails.
    reason: for "fails" and "not needed": why, without a full stop; for "works" empty.
    """

    verdict: OlsVerdict
    broken: tuple[OlsRestriction, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.verdict == "fails") != bool(self.broken):
            raise ValueError(f"OLS {self.verdict} with the broken restrictions {self.broken}")

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


@dataclass(frozen=True, slots=True)
class _Perfect:
    """A perfect nest: its loops, outermost first, and the statements of the innermost one."""

    loops: tuple[Loop, ...]
    statements: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.loops[0].span.line


def ols_applicability(
    scop: Scop, sets: ScopSets, dependences: Sequence[Dependence]
) -> OlsApplicability:
    """Return whether OLS works for a program, fails, or is not needed.

    It is not needed for a single nest, nor where the nests may issue from one perfect nest without
    any shift. Trip counts are compared level by level, as far as both nests are deep.

    Parameters
    ----------
    scop: normalised, in program order. sets, dependences: of it.
    """
    outer, level = _branching(scop.tree)
    if not any(map(_holds_loop, level)):
        return OlsApplicability("not needed", reason="there is a single nest")
    perfect = [nest for nest in map(_perfect, level) if nest is not None]
    findings: dict[OlsRestriction, str] = {
        "adjacent": _between(scop, level),
        "perfect": _imperfection(scop, level, perfect),
        "equal trip counts": _unequal(perfect, len(outer)),
    }
    broken = {name: text for name, text in findings.items() if text}
    if broken:
        return OlsApplicability("fails", tuple(broken), "; ".join(broken.values()))
    if find_violation(sets, dependences, _side_by_side(scop, outer, perfect)) is None:
        return OlsApplicability("not needed", reason="the nests fuse without a shift")
    return OlsApplicability("works")


def _branching(nodes: tuple[Node, ...]) -> tuple[tuple[Loop, ...], tuple[Node, ...]]:
    """Return the loops around the first level that holds several nests, and that level.

    The level of a program that holds a single nest is the body of its innermost loop.
    """
    outer: list[Loop] = []
    while True:
        match [node for node in nodes if _holds_loop(node)]:
            case [LoopNode(loop, body)]:
                outer.append(loop)
                nodes = body
            case [ConditionNode(_, body)]:
                nodes = body
            case _:
                return tuple(outer), nodes


def _holds_loop(node: Node) -> bool:
    return any(isinstance(inner, LoopNode) for inner in walk_tree((node,)))


def _perfect(node: Node) -> _Perfect | None:
    """Return `node` as a perfect nest, or None when it is something else."""
    loops: list[Loop] = []
    while isinstance(node, LoopNode):
        loops.append(node.loop)
        if not any(map(_holds_loop, node.body)):
            return _Perfect(tuple(loops), _statements(node.body))
        if len(node.body) > 1:
            return None
        node = node.body[0]
    return None


def _statements(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    return tuple(n.statement for n in walk_tree(nodes) if isinstance(n, StatementNode))


def _between(scop: Scop, level: tuple[Node, ...]) -> str:
    """Return what stands between two nests, or ""."""
    places = [place for place, node in enumerate(level) if _holds_loop(node)]
    inside = _statements(tuple(n for n in level[places[0] : places[-1]] if not _holds_loop(n)))
    return f"{_listed(scop, inside)} between the nests" if inside else ""


def _imperfection(scop: Scop, level: tuple[Node, ...], perfect: Sequence[_Perfect]) -> str:
    """Return what keeps the nests, or the program around them, from being perfect, or ""."""
    found = [
        f"the nest at line {_line(node)} is not perfect"
        for node in level
        if _holds_loop(node) and _perfect(node) is None
    ]
    inside = {name for node in level for name in _statements((node,))}
    places = [place for place, node in enumerate(level) if _holds_loop(node)]
    beside = _statements((*level[: places[0]], *level[places[-1] + 1 :]))
    outside = [s.name for s in scop.statements if s.name in beside or s.name not in inside]
    if outside:
        found.append(f"{_listed(scop, outside)} beside the nests")
    return "; ".join(found)


def _listed(scop: Scop, names: Sequence[str]) -> str:
    lines = ", ".join(f"{name} (line {scop.statement(name).span.line})" for name in names)
    return f"{lines} {'stands' if len(names) == 1 else 'stand'}"


def _line(node: Node) -> int:
    return next(n.loop.span.line for n in walk_tree((node,)) if isinstance(n, LoopNode))


def _unequal(nests: Sequence[_Perfect], depth: int) -> str:
    """Return the first two nests whose loops differ, or ""."""
    for one, other in pairwise(nests):
        shared = min(len(one.loops), len(other.loops))
        if _trips(one, depth)[:shared] != _trips(other, depth)[:shared]:
            return (
                f"the nests at lines {one.line} and {other.line} have trip counts "
                f"{_product(one)} and {_product(other)}"
            )
    return ""


def _trips(nest: _Perfect, depth: int) -> tuple[tuple[Affine, int], ...]:
    """Return the bounds of the loops, iterators replaced by the level that they count."""
    levels = {
        loop.iterator: Affine.variable(f"level{depth + n}") for n, loop in enumerate(nest.loops)
    }
    return tuple((loop.stop.substitute(levels), loop.scale) for loop in nest.loops)


def _product(nest: _Perfect) -> str:
    return " x ".join(
        f"({loop.stop})" if loop.stop.terms else str(loop.stop) for loop in nest.loops
    )


def _side_by_side(scop: Scop, outer: Sequence[Loop], nests: Sequence[_Perfect]) -> Schedule:
    """Return the schedule with all nests in one perfect nest, in program order inside of it."""
    deepest = max(len(nest.loops) for nest in nests)
    dims: dict[str, tuple[Dim, ...]] = {}
    place = 0
    for nest in nests:
        counters = [LoopDim(NestLoop(loop.iterator, 1)) for loop in (*outer, *nest.loops)]
        pads = [LoopDim(NestLoop(None, 1))] * (deepest - len(nest.loops))
        for name in nest.statements:
            dims[name] = (*counters, *pads, ScalarDim(place))
            place += 1
    return Schedule({statement.name: dims[statement.name] for statement in scop.statements})
