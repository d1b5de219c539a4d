"""Lanes: iterations of a loop side by side, asked for by name or by a pipelined loop around it.

Which loops are to run in lanes: those that are named, and all below one that is pipelined.

Join lanes that update one element, one after another, to a single statement.

Rewrite
-------
    s += a[k] * b[k];
    s += a[k + 1] * b[k + 1];      ->   s = s + a[k] * b[k] + a[k + 1] * b[k + 1];

Each lane's value takes the place of the next one's read of the element, so the result is the
program's, whatever the operators are. What can be reordered, sums and products, is then added up as
a balanced tree by `datapath.sums`. A lane that does not run in some iterations adds the
neutral element there, and makes its reads elsewhere only.

What else a lane reads of the array is what it was before all lanes, so that must be no element that
they update.

Run several iterations of a loop side by side: lanes, each a copy of the loop's statements.

Rewrite
-------
    for (j = 0; j < n; j++)        for (j = 0; j < n; j += 2) {
      S(j);                    ->    S(j);
                                     if (j + 1 < n) S_1(j + 1);
                                   }

The instances and their order are those of the program, so nothing has to be proven: whether lanes
run in step is for the schedule, which moves the loops inside of them side by side and knows no
other statements than these. The condition is left out where the number of iterations is a multiple.

A statement alone in its loop that updates one element in all lanes is not copied, but updates it
with all of their values at once (`transforms.lanes`).

A statement behind a loop whose number of iterations varies is put into the last one of them, where
the two depend on each other and are to share a nest:

    for (k = 0; k < j; k += 2)        for (k = 0; k <= j; k += 2) {
      S(j, k);                   ->     if (k < j) S(j, k);
    T(j);                               if (k + 1 >= j) T(j); }

Which iteration that is, is no affine function of the outer ones. As an iterator of its own it is
one that every nest can have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import (
    Access,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
    statements_under,
    walk_tree,
)
from rtlgen.ir.sets import has_instances
from rtlgen.ir.types import INT32, INT64
from rtlgen.source import Span

Place = tuple[str, int, int]
"""Where a loop begins: file, line, column."""


WRITTEN_OUT = "a loop whose iterator takes a few values by no constant step is written out"


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
                raise UnknownLoop(f"there is no loop {name}", notes=(WRITTEN_OUT,), help=known)
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


_NEUTRAL = {"add": 0, "sub": 0, "or": 0, "xor": 0, "mul": 1}


@dataclass(frozen=True, slots=True)
class Lane:
    """Lane `number` of a loop: what its iterator stands for; what is >= 0 where it runs."""

    number: int
    value: Affine
    guard: Affine | None


def lane_sum(lanes: Sequence[Statement], guards: Sequence[Affine | None]) -> Statement | None:
    """Return one statement that does what lanes do one after another, or None.

    Parameters
    ----------
    lanes: copies of one statement. guards: where each of them runs.
    """
    first = lanes[0]
    if len(lanes) < 2 or first.is_scatter or any(lane.write != first.write for lane in lanes):
        return None
    own = _own_read(first)
    if own is None or any(_own_read(lane) != own for lane in lanes):
        return None
    reads: list[Access] = list(first.reads)
    expr = first.expr
    for lane, guard in zip(lanes[1:], guards[1:], strict=True):
        value = lane.expr if guard is None else _where(lane.expr, own, guard)
        if value is None:
            return None
        numbers = dict[int, int]()
        for k, read in enumerate(lane.reads):
            if k != own:
                access = read if guard is None else replace(read, where=(*read.where, guard))
                if _may_be_updated(lane, access):
                    return None
                # What several lanes read is one value.
                known = (n for n, other in enumerate(reads) if n != own and other.serves(access))
                numbers[k] = next(known, len(reads))
                if numbers[k] == len(reads):
                    reads.append(access)
        expr = _inserted(value, own, expr, numbers)
    return replace(first, reads=tuple(reads), expr=expr)


def _may_be_updated(lane: Statement, read: Access) -> bool:
    """Tell whether a read may be one of the element that the statement writes."""
    if read.array != lane.write.array:
        return False
    if read.is_lookup:
        return True
    differences = [a - b for a, b in zip(read.affine, lane.write.affine, strict=True)]
    met = (*read.where, *(form for d in differences for form in (d, -d)))
    return has_instances(replace(lane, conditions=(*lane.conditions, *met)))


def _own_read(statement: Statement) -> int | None:
    """Return the one read of the element that is written."""
    found = [
        k
        for k, read in enumerate(statement.reads)
        if read.array == statement.write.array and read.subscripts == statement.write.subscripts
    ]
    if len(found) != 1:
        return None
    uses = [node for node in walk(statement.expr) if isinstance(node, Read)]
    # Once: a value that is used twice would be computed twice, by every lane.
    return found[0] if sum(node.index == found[0] for node in uses) == 1 else None


def _inserted(expr: Expr, own: int, value: Expr, numbers: dict[int, int]) -> Expr:
    """Return an expression with `value` in place of its read of the element."""
    if isinstance(expr, Read) and expr.index == own:
        return value
    parts = tuple(_inserted(child, own, value, numbers) for child in children(expr))
    found = with_children(expr, parts)
    return replace(found, index=numbers[found.index]) if isinstance(found, Read) else found


def _where(expr: Expr, own: int, guard: Affine) -> Expr | None:
    """Return an expression that is the read of the element itself where `guard` is negative."""
    match expr:
        case Read(index) if index == own:
            return expr
        case Cast(operand):
            inner = _where(operand, own, guard)
            return None if inner is None else replace(expr, operand=inner)
        case Binary(op, left, right) if op in _NEUTRAL:
            in_left = _uses(left, own)
            if op == "sub" and not in_left:
                return None
            kept = _where(left if in_left else right, own, guard)
            if kept is None:
                return None
            holds = Binary("ge", IndexValue(guard, INT64), Constant(0, INT64), INT32)
            added = right if in_left else left
            neutral = Constant(_NEUTRAL[op], added.type)
            other = Select(holds, added, neutral, added.type)
            return replace(expr, left=kept if in_left else other, right=other if in_left else kept)
        case _:
            return None


def _uses(expr: Expr, own: int) -> bool:
    return any(isinstance(node, Read) and node.index == own for node in walk(expr))


MOST_LANES = 512
"""Iterations that run side by side, of all the loops around a statement together."""

MOST_STATEMENTS = 128
"""Statements of a loop, its lanes counted: the search for a schedule looks at each."""

Values = Mapping[str, Affine]


class NotUnrollable(RtlgenError):
    """A loop cannot be run in as many lanes as were asked for.

    At most 512 iterations run side by side, all the loops around a statement together, and a loop
    has at most 128 statements then. A loop is unrolled whole, by `--unroll LOOP=all` or below one
    that is pipelined (`--pipeline`), if the number of its iterations is known and the same for all
    outer ones; where these are unrolled whole, too, it is.
    """

    code = "E0314"


def unroll(scop: Scop, wishes: LaneWishes, joint: frozenset[str] = frozenset()) -> Scop:
    """Return the program as parsed, with loops unrolled.

    Parameters
    ----------
    joint: statements of the result that are to share nests with loops in lanes before them.

    Raises
    ------
    UnknownLoop, NotUnrollable
    """
    wishes.require_known(scop)
    unroller = _Unroller(scop, wishes, joint)
    whole = _Pipelined(None) if wishes.pipelines_function(scop.name) else None
    if whole is None and None in wishes.pipelined:
        whole = _Pipelined(None, is_marked=True)
    tree = unroller.nodes(scop.tree, _Place(pipelined=whole))
    return replace(scop, statements=tuple(unroller.statements), tree=tree)


@dataclass(frozen=True, slots=True)
class _Pipelined:
    """A loop, or with None the function, all loops below which are unrolled.

    Members
    -------
    is_marked: by the place of the loop, not by an option.
    """

    loop: Loop | None
    is_marked: bool = False

    @property
    def labels(self) -> tuple[Label, ...]:
        """What says so in a message about one of the loops below."""
        if self.loop is None:
            return ()
        return (Label(self.loop.span, "all loops below this one are unrolled"),)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where nodes are copied to.

    Members
    -------
    values: what iterators stand for that have been replaced. loops: around it, by iterator.
    guards: conditions of the lanes around it. suffix: of the names of statements there.
    lanes: how many copies there are of what stands here.
    level: how many loops of the program are around it. pipelined: one of them, or the function.
    """

    values: Values = field(default_factory=dict)
    loops: Mapping[str, Loop] = field(default_factory=dict)
    guards: tuple[Affine, ...] = ()
    suffix: str = ""
    lanes: int = 1
    level: int = 0
    pipelined: _Pipelined | None = None

    def inside(self, loop: Loop) -> _Place:
        """Return the place in a loop."""
        values = {name: value for name, value in self.values.items() if name != loop.iterator}
        return replace(self, values=values, loops={**self.loops, loop.iterator: loop})

    @property
    def wished_by(self) -> tuple[Label, ...]:
        """What says in a message why loops here are unrolled."""
        return () if self.pipelined is None else self.pipelined.labels

    def in_lane(self, lane: Lane, iterator: str, lanes: int) -> _Place:
        """Return the place in a lane of the innermost loop, or of one that is gone."""
        return replace(
            self,
            values={**self.values, iterator: lane.value},
            guards=self.guards if lane.guard is None else (*self.guards, lane.guard),
            suffix=f"{self.suffix}_{lane.number}" if lane.number else self.suffix,
            lanes=lanes,
        )


class _Unroller:
    def __init__(self, scop: Scop, wishes: LaneWishes, joint: frozenset[str]) -> None:
        self._scop = scop
        self._wishes = wishes
        self._joint = joint
        self._taken = {statement.name for statement in scop.statements}
        self.statements: list[Statement] = []

    def nodes(self, nodes: Sequence[Node], place: _Place) -> tuple[Node, ...]:
        found: list[Node] = []
        before: LoopNode | None = None
        for node in nodes:
            new = self._node(node, place)
            if not isinstance(node, StatementNode):
                before = _loop_in_lanes(node, new)
            elif before is not None and self._may_join(before, place):
                found[-1] = self._with_last(before, found[-1])
                continue
            else:
                before = None
            found += new
        return tuple(found)

    def _may_join(self, before: LoopNode, place: _Place) -> bool:
        """Tell whether the statement that was added last is to run in the loop before it."""
        statement, loop = self.statements[-1], before.loop
        if trips_of(loop) is not None or loop.iterator in place.loops:
            return False
        if not self._joint.issuperset((statement.name, *statements_under(before.body))):
            return False
        # Without an iteration, not even one more, there would be none for the statement.
        least = _room(loop).substitute({loop.iterator: loop.start})
        return not has_instances(replace(statement, conditions=(*statement.conditions, -least - 1)))

    def _with_last(self, before: LoopNode, current: Node) -> LoopNode:
        """Put the statement that was added last into the last iteration of a loop.

        The loop runs once more where its iterations are all full, and where it has none.

        Parameters
        ----------
        current: the loop, other statements behind it already in it.
        """
        loop, room = before.loop, _room(before.loop)
        longer = replace(loop, stop=loop.stop + (1 if loop.step > 0 else -1))
        inside, last = room - 1, -room + loop.scale * abs(loop.step) - 1
        if current is before:
            for n, other in enumerate(self.statements):
                if other.name in statements_under(before.body):
                    loops = tuple(longer if own == loop else own for own in other.loops)
                    conditions = (*other.conditions, inside)
                    self.statements[n] = replace(other, loops=loops, conditions=conditions)
            current = LoopNode(longer, (ConditionNode((inside,), before.body),))
        assert isinstance(current, LoopNode), "a loop and what was put into it"
        statement = self.statements[-1]
        origin = statement.origin or tuple(map(Affine.variable, statement.iterators))
        self.statements[-1] = replace(
            statement,
            loops=(*statement.loops, longer),
            conditions=(*statement.conditions, last),
            origin=(*origin, Affine.variable(loop.iterator)),
        )
        behind = ConditionNode((last,), (StatementNode(statement.name),))
        return replace(current, body=(*current.body, behind))

    def _node(self, node: Node, place: _Place) -> tuple[Node, ...]:
        match node:
            case StatementNode(name):
                return (self._add(self._scop.statement(name), place),)
            case ConditionNode(conditions, body):
                moved = tuple(condition.substitute(place.values) for condition in conditions)
                return (ConditionNode(moved, self.nodes(body, place)),)
            case LoopNode(loop, body):
                moved_loop = loop.substitute(place.values).limited(place.values)
                wish = self._lanes_of(loop, place)
                below = replace(
                    place, level=place.level + 1, pipelined=self._pipelined(node, place)
                )
                if wish == 1:
                    return (LoopNode(moved_loop, self.nodes(body, below.inside(moved_loop))),)
                return self._in_lanes(moved_loop, body, below, wish)

    def _lanes_of(self, loop: Loop, place: _Place) -> int | None:
        """Return in how many lanes a loop is to run; None: in as many as it has iterations.

        Options come before marks, and what is said of one loop before what is said of all below.
        """
        if self._wishes.is_named(loop):
            return self._wishes.named_lanes(loop)
        if place.pipelined is not None and not place.pipelined.is_marked:
            return None
        otherwise = 1 if place.pipelined is None else None
        return self._wishes.marked.get(place_of(loop.span), otherwise)

    def _pipelined(self, node: LoopNode, place: _Place) -> _Pipelined | None:
        """Return the outermost of the pipelined loops around what is in a loop, or the function."""
        if place.pipelined is not None and not place.pipelined.is_marked:
            return place.pipelined
        if self._wishes.pipelines(node.loop, place.level + 1):
            return _Pipelined(node.loop)
        is_marked = place_of(node.loop.span) in self._wishes.pipelined
        return place.pipelined or (_Pipelined(node.loop, is_marked=True) if is_marked else None)

    def _in_lanes(
        self, loop: Loop, body: tuple[Node, ...], place: _Place, wish: int | None
    ) -> tuple[Node, ...]:
        trips = trips_of(loop)
        if wish is None and trips is None:
            raise NotUnrollable(
                f"the loop {loop.iterator} has no constant number of iterations",
                labels=(Label(loop.span), *place.wished_by),
                help=self._remedy(loop, place),
            )
        if trips == 0:
            return (LoopNode(loop, self.nodes(body, place.inside(loop))),)
        factor = trips if wish is None else min(wish, trips or wish)
        assert factor is not None, "a number of lanes or of iterations is known"
        lanes = place.lanes * factor
        if lanes > MOST_LANES:
            raise NotUnrollable(
                f"the loop {loop.iterator} would be run in {lanes:,} lanes",
                labels=(Label(loop.span), *place.wished_by),
                help=f"{MOST_LANES} are the most, all loops around a statement together",
            )
        if factor == trips:
            # Nothing is left of the loop.
            starts = [Lane(n, loop.start + loop.step * n, None) for n in range(factor)]
            return self._lanes(loop, body, place, starts, lanes)
        stepped = replace(loop, step=loop.step * factor)
        exact = trips is not None and trips % factor == 0
        inner = place.inside(stepped)
        moved = [_lane(loop, n, exact) for n in range(factor)]
        return (LoopNode(stepped, self._lanes(loop, body, inner, moved, lanes)),)

    def _remedy(self, loop: Loop, place: _Place) -> str:
        """Return what to ask for where a loop has no constant number of iterations."""
        inner = None if place.pipelined is None else _further_in(self._scop.tree, loop)
        if inner is None:
            return f"say in how many lanes: --unroll {loop.label or loop.iterator}=4"
        return f"pipeline a loop further in: --pipeline {inner}"

    def _lanes(
        self,
        loop: Loop,
        body: tuple[Node, ...],
        place: _Place,
        lanes: Sequence[Lane],
        count: int,
    ) -> tuple[Node, ...]:
        """Return the nodes of all lanes, one after another, or of one statement for all of them."""
        before = len(self.statements)
        of_lanes = [self.nodes(body, place.in_lane(lane, loop.iterator, count)) for lane in lanes]
        if all(len(nodes) == 1 and isinstance(nodes[0], StatementNode) for nodes in of_lanes):
            summed = lane_sum(self.statements[before:], [lane.guard for lane in lanes])
            if summed is not None:
                self._taken -= {dropped.name for dropped in self.statements[before + 1 :]}
                self.statements[before:] = [summed]
                return of_lanes[0]
        found: list[Node] = []
        for lane, nodes in zip(lanes, of_lanes, strict=True):
            found += nodes if lane.guard is None else [ConditionNode((lane.guard,), nodes)]
        if len(self.statements) - before > MOST_STATEMENTS:
            raise NotUnrollable(
                f"the loop {loop.iterator} would have {len(self.statements) - before} statements",
                labels=(Label(loop.span), *place.wished_by),
                help=f"{MOST_STATEMENTS} are the most: ask for fewer lanes",
            )
        return tuple(found)

    def _add(self, old: Statement, place: _Place) -> StatementNode:
        """Add a copy of a statement, under a name that no other one has."""
        loops = tuple(place.loops[name] for name in old.iterators if name in place.loops)
        copy, name = old.rewritten(place.values, loops), old.name
        if place.suffix:
            name += place.suffix
            while name in self._taken:
                name += "_"
            self._taken.add(name)
        # Of a loop that is gone the name of the lane tells the iteration.
        known = zip(old.iterators, copy.origin, strict=True)
        origin = tuple(value for iterator, value in known if iterator in place.loops)
        conditions = (*copy.conditions, *place.guards)
        self.statements.append(replace(copy, name=name, conditions=conditions, origin=origin))
        return StatementNode(name)


def _loop_in_lanes(node: Node, new: Sequence[Node]) -> LoopNode | None:
    """Return the loop that runs a node in lanes, if that is what it has become."""
    if isinstance(node, LoopNode) and len(new) == 1 and isinstance(new[0], LoopNode):
        return new[0] if new[0].loop.step != node.loop.step else None
    return None


def _room(loop: Loop) -> Affine:
    """Return how far an iteration is from the end of a loop: 1 or more in all that it has."""
    room = loop.stop - Affine.variable(loop.iterator) * loop.scale
    return room if loop.step > 0 else -room


def _further_in(tree: tuple[Node, ...], ragged: Loop) -> str | None:
    """Return the name of a loop around or in a ragged one that has no such loop below, or None."""
    place = place_of(ragged.span)
    nodes = [node for node in walk_tree(tree) if isinstance(node, LoopNode)]
    near = {
        node.loop.label or node.loop.iterator: None
        for node in nodes
        if place in (place_of(loop.span) for loop in _loops_of((node,)))
        or any(node in walk_tree(n.body) for n in nodes if place_of(n.loop.span) == place)
    }
    for name in near:
        named = [node for node in nodes if name in (node.loop.label, node.loop.iterator)]
        if all(trips_of(below) is not None for node in named for below in _loops_of(node.body)):
            return name
    return None


def _loops_of(nodes: tuple[Node, ...]) -> list[Loop]:
    return [node.loop for node in walk_tree(nodes) if isinstance(node, LoopNode)]


def trips_of(loop: Loop) -> int | None:
    """Return how often a loop runs, where that is known."""
    counted = loop.counted()
    if not counted.stop.is_constant:
        return None
    return max(0, -(-counted.stop.constant // counted.scale))


def _lane(loop: Loop, number: int, exact: bool) -> Lane:
    """Return lane `number` of a loop that now steps over all of them."""
    value = Affine.variable(loop.iterator) + loop.step * number
    if exact or number == 0:
        return Lane(number, value, None)
    return Lane(number, value, _room(loop).substitute({loop.iterator: value}) - 1)
