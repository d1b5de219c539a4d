"""Which loops are to run in lanes: those that are named, and all below one that is pipelined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtlgen.errors import RtlgenError
from rtlgen.ir.scop import Loop, LoopNode, Node, Scop, walk_tree
from rtlgen.source import Span

Place = tuple[str, int, int]
"""Where a loop begins: file, line, column."""


class UnknownLoop(RtlgenError):
    """`--unroll` or `--pipeline` names a loop that the function does not have.

    A loop is named by its variable, which stands for every loop with it, or by its C label:

        rtlgen plan gemm.c --unroll j=8

    `--pipeline` also takes the level of loops, counted from 1, the outermost; 0, or the function's
    name, is for the whole function.
    """

    code = "E0313"


@dataclass(frozen=True, slots=True)
class LaneWishes:
    """What is asked of the loops of a program.

    Members
    -------
    unroll: lanes by the name or label of a loop; None: as many as it has iterations.
    pipeline: loops, all below which are unrolled: by name, label or level; or the function.
    marked: as `unroll`, by the place of a loop, where the others say nothing of it.
    pipelined: as `pipeline`, by the place of a loop; None: the function.
    """

    unroll: Mapping[str, int | None] = field(default_factory=dict)
    pipeline: tuple[str, ...] = ()
    marked: Mapping[Place, int | None] = field(default_factory=dict)
    pipelined: frozenset[Place | None] = frozenset()

    @property
    def is_empty(self) -> bool:
        return not (self.unroll or self.pipeline or self.marked or self.pipelined)

    def require_known(self, scop: Scop) -> None:
        """Raise UnknownLoop where a loop is named that there is not."""
        loops = [node.loop for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]
        names = {name for loop in loops for name in _names(loop)}
        depth = _depth(scop.tree)
        shown = ", ".join(dict.fromkeys(loop.label or loop.iterator for loop in loops))
        known = f"the loops are {shown}" if shown else None
        for name in self.unroll:
            if name not in names:
                raise UnknownLoop(f"there is no loop {name}", help=known)
        for name in self.pipeline:
            if name in loop_names(scop):
                continue
            if name.isdecimal():
                deepest = f"levels go from 1, the outermost loops, to {depth}"
                raise UnknownLoop(f"there is no loop at level {name}", help=deepest)
            also = f"{known}; {scop.name} is the whole function" if known else None
            raise UnknownLoop(f"there is no loop {name}", help=also)

    def named_lanes(self, loop: Loop) -> int | None:
        """Return in how many lanes an option says that a loop is to run.

        Raises
        ------
        KeyError: none says anything of it.
        """
        return self.unroll[next(name for name in _names(loop) if name in self.unroll)]

    def is_named(self, loop: Loop) -> bool:
        """Tell whether an option says in how many lanes a loop is to run."""
        return any(name in self.unroll for name in _names(loop))

    def pipelines_function(self, name: str) -> bool:
        """Tell whether an option asks for all loops of a function to be unrolled."""
        return name in self.pipeline or "0" in self.pipeline

    def pipelines(self, loop: Loop, level: int) -> bool:
        """Tell whether an option asks for all loops below this one to be unrolled."""
        return str(level) in self.pipeline or any(name in self.pipeline for name in _names(loop))


def loop_names(scop: Scop) -> frozenset[str]:
    """Return what names loops of a program, or all of them: labels, variables, levels, its name."""
    loops = [node.loop for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]
    levels = (str(level) for level in range(_depth(scop.tree) + 1))
    return frozenset((scop.name, *levels, *(name for loop in loops for name in _names(loop))))


def place_of(span: Span) -> Place:
    """Return where a loop begins, however long its text is."""
    return span.file, span.line, span.column


def _names(loop: Loop) -> tuple[str, ...]:
    return tuple(name for name in (loop.label, loop.iterator) if name is not None)


def _depth(nodes: tuple[Node, ...]) -> int:
    """Return how many loops are inside of each other, at most."""
    depths = [
        _depth(node.body) + isinstance(node, LoopNode) for node in nodes if hasattr(node, "body")
    ]
    return max(depths, default=0)
