"""The static control part: arrays, statements, and the loop tree in program order.

The vocabulary is pet's (Verdoolaege and Grosser, IMPACT 2012). A `Scop` is immutable. Its tree
is the meaning of the program: the golden model walks it, and everything else (domains, schedules,
dependences) is derived from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine, Constraint, affine_sum
from rtlgen.ir.bank_map import BankMap, Cut, bank_map
from rtlgen.ir.expr import (
    Binary,
    Constant,
    Expr,
    IndexValue,
    Read,
    Scatter,
    Select,
    children,
    map_affine,
    walk,
)
from rtlgen.ir.records import Record
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.types import NumberType
from rtlgen.source import SourceFile, Span

Role: TypeAlias = Literal["in", "out", "inout", "local"]
Storage: TypeAlias = Literal["parameter", "global", "local"]


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or with shape () a scalar variable, that statements read and write.

    Members
    -------
    role: `in` (read, never written), `out` (written, never read), `inout` (both), or `local` (not
        visible outside, dead after the run, undefined before the first write).
    storage: where it was declared.
    values: of all elements of a constant table, row-major; () for anything else. Of floats they are
        patterns.
    cuts: how it is cut into banks.
    is_stream: its elements come in, or go out, one after another, and are kept nowhere.
    is_double: whether it has two copies, one for the host and one for a run.
    is_external: it stands in a RAM of the user's, beside the circuit.
    told: between which values assertions and subscripts have elements that the program reads;
        random data keep to them.
    """

    name: str
    element: NumberType
    shape: tuple[int, ...]
    role: Role
    storage: Storage
    span: Span
    values: tuple[int, ...] = ()
    cuts: tuple[Cut, ...] = ()
    is_stream: bool = False
    is_double: bool = False
    is_external: bool = False
    told: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if any(extent < 1 for extent in self.shape):
            raise ValueError(f"{self.name} has an empty dimension: {self.shape}")
        if self.values and len(self.values) != self.depth:
            raise ValueError(f"{self.name} has {len(self.values)} values for {self.depth} elements")
        if self.is_stream and (self.role not in ("in", "out") or self.cuts or self.values):
            raise ValueError(f"{self.name} is no stream")
        if self.is_external and (self.cuts or self.values or self.is_stream or self.is_double):
            raise ValueError(f"{self.name} is not in one RAM of the user's")

    @property
    def is_table(self) -> bool:
        """Whether its elements are constants."""
        return bool(self.values)

    @property
    def depth(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Row-major strides in elements, one a dimension."""
        return row_major_strides(self.shape)

    @property
    def bank_map(self) -> BankMap:
        """Which of its elements are in which bank."""
        return bank_map(self.shape, self.cuts)

    @property
    def is_register(self) -> bool:
        """Whether each of its banks is one word, of flip-flops."""
        return self.bank_map.rows == 1 and not self.is_table


def row_major_strides(shape: tuple[int, ...], step: int = 1) -> tuple[int, ...]:
    """Return the distance of neighbours in every dimension, `step` in the last one."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar parameter of the function that the datapath uses.

    Members
    -------
    limits: the values with which the program has a meaning, both inclusive; None: all of its type.
    told: those of them with which subscripts stay inside, if all are evaluated, where that is less;
        random data keep to them.
    """

    name: str
    type: NumberType
    span: Span
    limits: tuple[int, int] | None = None
    told: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the C function, used or not; the extents of an array stand with the array.

    Members
    -------
    given: the C text of the only value that it has, if it is fixed.
    """

    name: str
    type: NumberType
    is_array: bool
    given: str = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a subscript may be in one iteration: `base + low` to `base + high`, both inclusive."""

    base: Affine
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError(f"an empty reach: {self}")

    @property
    def size(self) -> int:
        """How many values that are."""
        return self.high - self.low + 1


@dataclass(frozen=True, slots=True)
class Window:
    """A subscript that is computed: it lies between two bounds, both inclusive.

    Its value is an operand of the `Read` that makes the access.

    Members
    -------
    known: the value as a quasi-affine function of the iterators; None where it depends on data.
    is_proven: it has been shown to lie there wherever the program makes the access; else it does
        not leave its array, or the program has no meaning in C.
    told: the bounds of it that assertions in the program state, which the golden model checks.
    unproven: where it lies as far as can be proven, if that is more than the dimension. That it
        lies inside is what C implies; a store asks.
    moving: where it lies in each iteration, if that is narrower: of `a[i - x]`, x from 1 to 4, four
        elements below i, and not all that these are in some iteration.
    """

    low: int
    high: int
    known: Expr | None = None
    is_proven: bool = False
    told: tuple[int, int] | None = None
    unproven: tuple[int, int] | None = None
    moving: Reach | None = None

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError(f"an empty window: {self}")

    @property
    def reach(self) -> Reach:
        """What it may be in one iteration, where it is not known."""
        return self.moving or Reach(Affine(), self.low, self.high)

    def substitute(self, values: Mapping[str, Affine]) -> Window:
        """Return the window with iterators replaced."""
        if self.known is not None:
            return replace(self, known=map_affine(self.known, dict(values)))
        if self.moving is not None:
            moved = replace(self.moving, base=self.moving.base.substitute(dict(values)))
            return replace(self, moving=moved)
        return self

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


Subscript: TypeAlias = Affine | Window


@dataclass(frozen=True, slots=True)
class Access:
    """The array element that an instance of a statement touches, or one of those it may touch.

    An access with affine subscripts touches one element, known from the iterators. Where a
    subscript is a `Window` it is a *lookup*, and may touch any element of the windows that are not
    known.

    Members
    -------
    is_conditional: the C program makes it only where a condition on data holds, so that it may
        lie outside of the array elsewhere.
    where: functions of the iterators that are >= 0, all of them, in the instances that make it.
    """

    array: str
    subscripts: tuple[Subscript, ...]
    span: Span
    is_conditional: bool = False
    where: tuple[Affine, ...] = ()

    @property
    def windows(self) -> tuple[Window, ...]:
        """The subscripts that are computed, in order."""
        return tuple(s for s in self.subscripts if isinstance(s, Window))

    @property
    def reaches(self) -> tuple[Reach, ...]:
        """What the subscripts that depend on data may be, in order."""
        return tuple(window.reach for window in self.windows if window.known is None)

    @property
    def is_lookup(self) -> bool:
        """Whether the element has to be computed."""
        return bool(self.windows)

    @property
    def is_partial(self) -> bool:
        """Whether some instances may not make the access."""
        return self.is_conditional or bool(self.where)

    @property
    def is_uncertain(self) -> bool:
        """Whether the element depends on data."""
        return any(window.known is None for window in self.windows)

    @property
    def affine(self) -> tuple[Affine, ...]:
        """The subscripts of an access that is no lookup.

        Raises
        ------
        ValueError: it is one.
        """
        found = tuple(s for s in self.subscripts if isinstance(s, Affine))
        if len(found) != len(self.subscripts):
            raise ValueError(f"{self} depends on data")
        return found

    def serves(self, other: Access) -> bool:
        """Tell whether it touches the element of another access wherever that one does.

        Of lookups the element is not known.
        """
        return (
            self.array == other.array
            and self.subscripts == other.subscripts
            and not self.is_lookup
            and set(self.where) <= set(other.where)
        )

    def bounds(self, shape: Sequence[int]) -> tuple[Affine, ...]:
        """Return what is >= 0, all of it, just where the affine subscripts are inside of an array.

        Parameters
        ----------
        shape: of the array; an extent of 0 is not known.
        """
        return tuple(
            bound
            for subscript, extent in zip(self.subscripts, shape, strict=True)
            if isinstance(subscript, Affine)
            for bound in (subscript, -subscript + (extent - 1))
            if extent or bound is subscript
        )

    def substitute(self, values: Mapping[str, Affine]) -> Access:
        """Return the access with iterators replaced."""
        return replace(
            self,
            subscripts=tuple(s.substitute(values) for s in self.subscripts),
            where=tuple(form.substitute(values) for form in self.where),
        )

    def __str__(self) -> str:
        return self.array + "".join(f"[{subscript}]" for subscript in self.subscripts)


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop: `iterator` runs from `start` by `step` while it is before `stop`.

    "Before" is `scale * iterator < stop` for a positive step and `scale * iterator > stop` for a
    negative one. The front end writes scale 1; normalising a loop of step s leaves scale abs(s).

    Members
    -------
    limits: what else its header asks for, each >= 0: an end of the range of the iterator that is
        further in than `start` or `stop`. The tree has them as a `ConditionNode` around the body,
        too.
    under: the condition of the C text on which the loop depends in an iteration of the next outer
        one. The tree has an affine one as a `ConditionNode`.
    is_guarded: some condition around it is none of the iterators'; its statements have that one.
    """

    iterator: str
    start: Affine
    stop: Affine
    step: int
    span: Span
    scale: int = 1
    label: str | None = None
    limits: tuple[Affine, ...] = ()
    under: Span | None = None
    is_guarded: bool = False

    def __post_init__(self) -> None:
        if self.step == 0 or self.scale < 1:
            raise ValueError(f"loop {self.iterator} does not advance")

    def values(self, outer: Mapping[str, int]) -> Iterator[int]:
        """Yield what the iterator is, in order, where those of the loops around have values."""
        value, stop = self.start.evaluate(outer), self.stop.evaluate(outer)
        while self.scale * value < stop if self.step > 0 else self.scale * value > stop:
            yield value
            value += self.step

    def substitute(self, values: Mapping[str, Affine]) -> Loop:
        """Return the loop with other iterators in its bounds; its limits stay."""
        start, stop = self.start.substitute(values), self.stop.substitute(values)
        return replace(self, start=start, stop=stop)

    def counted(self) -> Loop:
        """Return a loop that counts the iterations of this one from 0; its limits stay."""
        # scale * (start + step * i) before stop, for either direction of the loop.
        room = self.stop - self.start * self.scale
        distance = room if self.step > 0 else -room
        scale = abs(self.step) * self.scale
        if distance.is_constant:
            distance, scale = Affine((), max(0, -(-distance.constant // scale))), 1
        return replace(self, start=Affine(), stop=distance, step=1, scale=scale)

    def limited(self, values: Mapping[str, Affine]) -> Loop:
        """Return the loop with other iterators in its limits."""
        return replace(self, limits=tuple(limit.substitute(values) for limit in self.limits))


@dataclass(frozen=True, slots=True)
class Statement:
    """An assignment `write = expr`, executed once for each point of its domain.

    The domain is what the enclosing `loops` (outermost first) enumerate, restricted to the points
    where every one of `conditions` holds. `expr` has the element type of the written array.
    `text` is the C text of the assignment, for reports. `origin` gives the value of each C iterator
    in terms of the present ones, where a transform has replaced them; () means that none has.
    What is written may be quasi-affine while the front end reads it, and is affine ever after, or
    depends on data: then `expr` is a `Scatter`, and the statement is a scatter.
    """

    name: str
    loops: tuple[Loop, ...]
    conditions: tuple[Constraint, ...]
    write: Access
    reads: tuple[Access, ...]
    expr: Expr
    span: Span
    text: str
    origin: tuple[Affine, ...] = ()

    def __post_init__(self) -> None:
        for read in (node for node in walk(self.expr) if isinstance(node, Read)):
            if not 0 <= read.index < len(self.reads):
                raise ValueError(f"{self.name} reads an access that it does not have")
            if len(read.at) != len(self.reads[read.index].windows):
                raise ValueError(f"{self.name} reads {self.reads[read.index]} at {read.at}")
        if self.write.is_uncertain and not self.is_scatter:
            raise ValueError(f"{self.name} writes {self.write}, which depends on data")
        if isinstance(self.expr, Scatter):
            old = self.reads[self.expr.old.index]
            if (old.array, old.subscripts) != (self.write.array, self.write.subscripts):
                raise ValueError(f"{self.name} writes {self.write} and leaves {old} alone")
        known = set(self.iterators)
        for access in (self.write, *self.reads):
            for subscript in access.subscripts:
                if isinstance(subscript, Affine) and not subscript.variables <= known:
                    raise ValueError(f"{self.name}: {access} uses a variable that is no iterator")
        if self.write.where:
            raise ValueError(f"{self.name} writes {self.write} in some instances only")
        if any(read.where for read in self.reads):
            self._require_selected(self.expr, ())

    def _require_selected(self, expr: Expr, holds: tuple[Affine, ...]) -> None:
        """Require that the value of no read is used where the read is not made."""
        match expr:
            case Select(Binary("ge", IndexValue(form), Constant(0)) as condition, if_true, other):
                for part, known in ((condition, holds), (if_true, (*holds, form)), (other, holds)):
                    self._require_selected(part, known)
                return
            case Read(index) if not set(self.reads[index].where) <= set(holds):
                raise ValueError(f"{self.name} uses {self.reads[index]} where it does not read it")
        for child in children(expr):
            self._require_selected(child, holds)

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(loop.iterator for loop in self.loops)

    @property
    def is_scatter(self) -> bool:
        """Whether the element that it writes depends on data."""
        return isinstance(self.expr, Scatter)

    @property
    def old_read(self) -> int | None:
        """The read of what a scatter leaves alone; None of other statements."""
        return self.expr.old.index if isinstance(self.expr, Scatter) else None

    @property
    def bounds(self) -> tuple[Affine, ...]:
        """What is >= 0, all of it, just for the instances of a normalised statement.

        Congruences, which are no bounds, are left out.
        """
        found: list[Affine] = []
        for loop in self.loops:
            counter = Affine.variable(loop.iterator)
            found += [counter - loop.start, loop.stop - counter * loop.scale - 1]
        return (*found, *(c for c in self.conditions if isinstance(c, Affine)))

    def rewritten(self, values: Mapping[str, Affine], loops: tuple[Loop, ...]) -> Statement:
        """Return the statement in other loops, with `values` in place of its iterators."""
        origin = self.origin or tuple(map(Affine.variable, self.iterators))
        return replace(
            self,
            loops=loops,
            conditions=tuple(c.substitute(values) for c in self.conditions),
            write=self.write.substitute(values),
            reads=tuple(read.substitute(values) for read in self.reads),
            expr=map_affine(self.expr, dict(values)),
            origin=tuple(value.substitute(values) for value in origin),
        )

    def instance_text(self, point: tuple[int, ...]) -> str:
        """Return an instance as a reader of the C program names it: S0(0,8,10)."""
        values = dict(zip(self.iterators, point, strict=True))
        shown = [affine.evaluate(values) for affine in self.origin] if self.origin else point
        return f"{self.name}({','.join(map(str, shown))})"


@dataclass(frozen=True, slots=True)
class LoopNode:
    """A loop of the tree and what it repeats, in program order."""

    loop: Loop
    body: tuple[Node, ...]

    @property
    def ends(self) -> tuple[Affine, ...]:
        """What is >= 0 as long as some later iteration may do anything.

        Where all that the loop repeats stands under conditions, those that, once false, stay false.
        """
        found: list[Affine] = []
        nodes = self.body
        while len(nodes) == 1 and isinstance(nodes[0], ConditionNode):
            for condition in nodes[0].conditions:
                if isinstance(condition, Affine):
                    change = condition.coefficient(self.loop.iterator) * self.loop.step
                    found += [condition] if change < 0 else []
            nodes = nodes[0].body
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ConditionNode:
    """Nodes that run where every one of `conditions` (on the outer iterators) holds."""

    conditions: tuple[Constraint, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class StatementNode:
    """The place of a statement in the tree."""

    statement: str


Node: TypeAlias = LoopNode | ConditionNode | StatementNode


@dataclass(frozen=True, slots=True)
class Scop:
    """One function, or one `#pragma scop` region of it.

    Members
    -------
    arrays: in order of declaration; names are unique.
    scalars: scalar arguments that some statement uses, in order of declaration.
    statements: in program order; `tree` holds each exactly once.
    schedule: when each instance runs; it starts as program order, and transforms replace it.
    returned: name of the scalar variable (an `Array` of shape ()) whose final value is returned.
    source: the file the function stands in, as read.
    parameters: of the C function, in its order.
    untouched: arrays that no statement uses, of role "in" or local: parameters, and what only dead
        statements used.
    records: structures of the C program that its caller sees, stored as one array a member.
    """

    name: str
    arrays: tuple[Array, ...]
    scalars: tuple[ScalarArgument, ...]
    statements: tuple[Statement, ...]
    tree: tuple[Node, ...]
    schedule: Schedule
    source: SourceFile
    returned: str | None = None
    parameters: tuple[Parameter, ...] = ()
    untouched: tuple[Array, ...] = ()
    records: tuple[Record, ...] = ()
    _array_of: Mapping[str, Array] = field(init=False, repr=False, compare=False)
    _statement_of: Mapping[str, Statement] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Programs of hundreds of statements are asked for each of them again and again.
        object.__setattr__(self, "_array_of", {array.name: array for array in self.arrays})
        object.__setattr__(self, "_statement_of", {s.name: s for s in self.statements})
        names = [array.name for array in (*self.arrays, *self.untouched)]
        if len(set(names)) != len(names):
            raise ValueError(f"two arrays of {self.name} share a name: {names}")
        order = statements_under(self.tree)
        if order != tuple(statement.name for statement in self.statements):
            raise ValueError(f"the tree of {self.name} and its statements differ: {list(order)}")
        for statement in self.statements:
            for access in (statement.write, *statement.reads):
                if len(access.subscripts) != len(self.array(access.array).shape):
                    raise ValueError(
                        f"{statement.name}: {access} has the wrong number of subscripts"
                    )

    def array(self, name: str) -> Array:
        """Return the array called `name`; KeyError when there is none."""
        return self._array_of[name]

    @property
    def variables(self) -> frozenset[str]:
        """What its arrays and scalars are called, those that no statement uses among them."""
        arrays = (array.name for array in (*self.arrays, *self.untouched))
        return frozenset((*arrays, *(scalar.name for scalar in self.scalars)))

    def element_number(self, access: Access) -> Affine:
        """Return the row-major number of the element that an affine access touches."""
        parts = zip(access.affine, self.array(access.array).strides, strict=True)
        return affine_sum(subscript * stride for subscript, stride in parts)

    def statement(self, name: str) -> Statement:
        """Return the statement called `name`; KeyError when there is none."""
        return self._statement_of[name]

    def with_schedule(self, schedule: Schedule) -> Scop:
        """Return the same program under another schedule."""
        return replace(self, schedule=schedule)


def walk_tree(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Yield every node, a parent before its body, in program order."""
    for node in nodes:
        yield node
        if not isinstance(node, StatementNode):
            yield from walk_tree(node.body)


def statements_under(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """Return the names of the statements in some nodes, in program order."""
    return tuple(n.statement for n in walk_tree(nodes) if isinstance(n, StatementNode))


def loop_paths(tree: tuple[Node, ...]) -> dict[str, tuple[int, ...]]:
    """Return the loops around every statement, outermost first, as numbers in program order."""
    paths: dict[str, tuple[int, ...]] = {}
    count = 0

    def visit(nodes: tuple[Node, ...], path: tuple[int, ...]) -> None:
        nonlocal count
        for node in nodes:
            if isinstance(node, StatementNode):
                paths[node.statement] = path
            elif isinstance(node, LoopNode):
                count += 1
                visit(node.body, (*path, count - 1))
            else:
                visit(node.body, path)

    visit(tree, ())
    return paths
