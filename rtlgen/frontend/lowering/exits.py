"""Loops that can be left, and jumps, to `for` loops with a bound, flags and `if`.

Rewrite
-------
    for (i = 0; i < 100; i++) {           int left = 0;
        if (a[i] == key) break;           for (i = 0; i < 100; i++)
        s += a[i];                            if (!left) {
    }                                             if (a[i] == key) left = 1;
                                                  else s += a[i];
                                              }

    if (c) continue; S                    if (c) ; else S
    while (i < 100 && a[i] != key) i++;   a `for` over i, left where a[i] == key
    switch, forward goto, early return    the same

A loop that is left runs on to its bound, its iterations without effect. What counts its iterations
runs on, too, so that it stays a function of them: what it was where the loop was left is kept, and
put back behind the loop.

Source
------
Structured control without jumps: Peterson, Kasami, Tokura, "On the capabilities of while, repeat,
and exit statements", CACM 16 (8), 1973; the flags are those of if-conversion (Allen, Kennedy,
Porterfield, Warren, POPL 1983, section 3: exit branches).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.lowering.capacity import Capacity, Limits
from rtlgen.frontend.lowering.iterations import Loop
from rtlgen.frontend.lowering.jumps import (
    BREAK,
    CONTINUE,
    ENDING,
    RETURN,
    Construct,
    Flag,
    Outcome,
    Target,
    chosen_by_if,
    outcome,
    outcome_of,
    returns_early,
    target_of,
    unreached,
)
from rtlgen.frontend.lowering.loops import Counted, LoopLowering
from rtlgen.frontend.lowering.nodes import (
    LOOPS,
    FreshNames,
    Place,
    assign,
    block,
    integer,
    is_void,
    items_of,
    joined,
    map_children,
    named,
    number,
    without,
)
from rtlgen.frontend.lowering.types import INT, Plain, declaration, plain
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import assigned, below, called_below, functions
from rtlgen.frontend.syntax.region import Region, called, is_pure


@dataclass(frozen=True, slots=True)
class Lowered:
    """What lowering has found out.

    Members
    -------
    limits: the values of parameters with which the kernel has a meaning.
    expected: those with which no loop leaves its arrays, wherever it is begun.
    full: loops that run on to their bound, and a word on the bound.
    """

    limits: Mapping[str, Limits]
    expected: Mapping[str, Limits]
    full: tuple[tuple[c_ast.Node, str], ...]


def lower_control(
    tree: c_ast.FileAST,
    region: Region,
    bounds: Mapping[int, int],
    unread: Mapping[int, int],
    fixed: Mapping[str, str],
) -> Lowered:
    """Rewrite the kernel of a file, and the functions that it calls, in place.

    Parameters
    ----------
    region: of the kernel. bounds: stated ones, by the lines of the loops' places.
    unread: how often the header of a loop could not be read as it is, by the line of its place.
    fixed: the values that options give to parameters of the kernel.
    """
    names = FreshNames(tree)
    entered = called(region, tree)
    kernel = region.function
    limits: Mapping[str, Limits] = {}
    expected: Mapping[str, Limits] = {}
    full: list[tuple[c_ast.Node, str]] = []
    for name, function in functions(tree).items():
        if function is not kernel and name not in entered:
            continue
        if function is not kernel and not _jumps(function.body):
            continue
        given = fixed if function is kernel else {}
        lowering = _Lowering(function, tree, names, bounds, unread, given)
        lowering.choose(function.body)
        items = list(function.body.block_items or ())
        if function is not kernel:
            # The reader carries a function that only computes out on expressions, returns and all.
            takes_returns = not is_pure(function) or not called_below(function.body).isdisjoint(
                ENDING
            )
            function.body.block_items = lowering.function(items, takes_returns=takes_returns)
            full += lowering.full
            continue
        start, end = len(region.before), len(items) - len(region.after)
        is_whole = not any(isinstance(item, c_ast.Pragma) for item in items)
        if not is_whole:
            start, end = start + 1, end - 1
        inside = lowering.function(items[start:end], takes_returns=is_whole)
        function.body.block_items = [*items[:start], *inside, *items[end:]]
        full += lowering.full
        limits, expected = lowering.limits, lowering.expected
    return Lowered(limits, expected, tuple(full))


def _begun(items: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """Yield the loops that statements begin whatever the data are, if the loops around begin."""
    for item in items:
        if isinstance(item, LOOPS):
            yield item
            yield from _begun(items_of(item.stmt))
        elif isinstance(item, c_ast.Compound):
            yield from _begun(items_of(item))
        elif isinstance(item, c_ast.Label):
            yield from _begun([item.stmt])
        if outcome(item).targets:
            break


def _jumps(body: c_ast.Node) -> bool:
    """Return whether something in a body may be lowered."""
    kinds = (*LOOPS, c_ast.Switch)
    return any(isinstance(x, kinds) or target_of(x) is not None for x in below(body))


class _Lowering:
    """Lowers the statements of one function.

    Parameters
    ----------
    names: takes the names that are made up. bounds, unread, fixed: as for `lower_control`.
    """

    def __init__(
        self,
        function: c_ast.FuncDef,
        tree: c_ast.FileAST,
        names: FreshNames,
        bounds: Mapping[int, int],
        unread: Mapping[int, int],
        fixed: Mapping[str, str],
    ) -> None:
        self._function = function
        self._names = names
        self._bounds = bounds
        self._variables = Variables(function, tree)
        self._capacity = Capacity(function, tree, self._variables, fixed)
        self._loops = LoopLowering(self._variables, names, self._capacity)
        self._unread = unread
        self._flags: list[Flag] = []
        self._result: str | None = None
        self._ignored: frozenset[Target] = frozenset()
        self._begun: Mapping[int, c_ast.Node] = {}
        self.full: list[tuple[c_ast.Node, str]] = []
        # What has been done before the statement, in the same iteration of the loop around it.
        given = self._capacity.given
        at = function.coord
        self._done: list[c_ast.Node] = [assign(n, integer(v, at), at) for n, v in given.items()]

    def function(self, items: list[c_ast.Node], *, takes_returns: bool) -> list[c_ast.Node]:
        """Return the statements of the body.

        Parameters
        ----------
        takes_returns: a `return` that is not the last statement is lowered, too.
        """
        root = self._construct("function", None)
        self._ignored = frozenset(unreached(items, frozenset()))
        self._begun = {id(loop): loop for loop in _begun(items)}
        at = self._function.body.coord
        if not takes_returns or not returns_early(items):
            self._ignored |= {RETURN}
            return self._cleaned(self._statements(items, root))
        type_ = self._function.decl.type.type
        returns_value = isinstance(type_, c_ast.TypeDecl) and not is_void(type_)
        self._result = self._names.fresh("result") if returns_value else None
        found = self._statements(items, root)
        found = self._declared(root.left, at) + found
        if self._result is not None:
            result = declaration(self._result, Plain(tuple(type_.type.names)), integer(0, at), at)
            found = [result, *found, c_ast.Return(named(self._result, at), at)]
        return self._cleaned(found)

    @property
    def limits(self) -> Mapping[str, Limits]:
        """The values of parameters with which the function has a meaning."""
        return self._capacity.required

    @property
    def expected(self) -> Mapping[str, Limits]:
        """The values of parameters with which no loop leaves its arrays, wherever it is begun."""
        return self._capacity.expected

    def choose(self, node: c_ast.Node) -> None:
        """Put `if`s in the place of every `switch` that only ends of cases leave."""
        for _, child in node.children():
            self.choose(child)
        map_children(node, lambda x: self._chosen(x) if isinstance(x, c_ast.Switch) else x)

    def _chosen(self, node: c_ast.Switch) -> c_ast.Node:
        parts = chosen_by_if(node, self._names)
        if parts is None or BREAK in outcome_of(parts).targets:
            return node
        return parts[0] if len(parts) == 1 else block(parts, node.coord)

    def _cleaned(self, items: list[c_ast.Node]) -> list[c_ast.Node]:
        """Return the statements without the flags that nobody asks."""
        dropped = {id(x) for flag in self._flags if not flag.is_asked for x in flag.sets}
        return without(items, frozenset(dropped))

    # Flags.

    def _construct(self, kind: str, around: Construct | None, label: str = "") -> Construct:
        left = Flag(self._names.fresh("returned" if kind == "function" else "left"))
        made = Construct(kind, around, left, Flag(self._names.fresh("skipped")), label)
        self._flags += [made.left, made.skipped]
        return made

    def _set(self, flag: Flag, at: Place) -> c_ast.Node:
        made = assign(flag.name, integer(1, at), at)
        flag.sets.append(made)
        return made

    def _declared(self, flag: Flag, at: Place) -> list[c_ast.Node]:
        """Return the declaration of a flag that is asked; what asks it is already made."""
        return [declaration(flag.name, plain(INT), integer(0, at), at)] if flag.is_asked else []

    # Statements.

    def _statements(
        self,
        items: Sequence[c_ast.Node],
        inside: Construct,
    ) -> list[c_ast.Node]:
        """Return what does what statements do, one after the other."""
        before = self._done
        found = self._sequence(items, inside)
        self._done = before
        return found

    def _sequence(self, items: Sequence[c_ast.Node], inside: Construct) -> list[c_ast.Node]:
        found: list[c_ast.Node] = []
        before = self._done
        for place, item in enumerate(items):
            self._done = [*before, *items[:place]]
            behind = list(items[place + 1 :])
            label = self._next_label(items, place)
            if label is not None:
                return [*found, *self._up_to_label(items[place:], label, inside)]
            ends = self._outcome(item)
            if not ends.targets:
                found += self._plain(item, inside)
                continue
            if target_of(item) is not None:
                return [*found, *self._jump(item, inside)]
            if isinstance(item, c_ast.If):
                return [*found, *self._branch(item, behind, inside)]
            found += self._plain(item, inside)
            if not ends.goes_on:
                return found
            return [*found, *self._guarded(ends.targets, item, behind, inside)]
        return found

    def _outcome(self, node: c_ast.Node | None) -> Outcome:
        """Return where control goes behind a statement, as far as that is changed."""
        ends = outcome(node)
        if ends.targets & self._ignored:
            return Outcome(True, ends.targets - self._ignored)
        return ends

    def _next_label(self, items: Sequence[c_ast.Node], place: int) -> str | None:
        """Return the last label that a statement jumps to, or one between it and that label."""
        places = {x.name: k for k, x in enumerate(items) if isinstance(x, c_ast.Label)}
        last, at = None, place
        while at < len(items) and (at == place or (last is not None and at < places[last])):
            for kind, name in self._outcome(items[at]).targets:
                is_behind = kind == "goto" and places.get(name, -1) > max(at, places.get(last, -1))
                last = name if is_behind else last
            at += 1
        return last

    def _up_to_label(
        self, items: Sequence[c_ast.Node], label: str, inside: Construct
    ) -> list[c_ast.Node]:
        """Return statements of which the first jumps to a label behind it."""
        at = next(k for k, x in enumerate(items) if isinstance(x, c_ast.Label) and x.name == label)
        place = items[0].coord
        region = self._construct("label", inside, label)
        declared, before = _declared_first(items[:at])
        found = self._statements(before, region)
        rest = [items[at].stmt, *items[at + 1 :]]
        passed = outcome_of(before).targets - {("goto", label)} - self._ignored
        behind = self._guarded(passed, block(before, place), rest, inside)
        return [*declared, *self._declared(region.left, place), *found, *behind]

    def _plain(self, item: c_ast.Node, inside: Construct) -> list[c_ast.Node]:
        """Return what does what one statement does, which is no jump."""
        match item:
            case c_ast.Compound():
                return [block(self._statements(items_of(item), inside), item.coord)]
            case c_ast.If():
                item.iftrue = self._body(item.iftrue, inside)
                item.iffalse = self._body(item.iffalse, inside)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                return self._loop(item, inside)
            case c_ast.Switch():
                return self._switch(item, inside)
            case c_ast.Label():
                parts = self._plain(item.stmt, inside)
                if len(parts) == 1 and not isinstance(parts[0], c_ast.Compound):
                    return [c_ast.Label(item.name, parts[0], item.coord)]
                return _labelled(item, parts)
        return [item]

    def _body(self, node: c_ast.Node | None, inside: Construct) -> c_ast.Node | None:
        if node is None:
            return None
        if isinstance(node, c_ast.Compound):
            return block(self._statements(items_of(node), inside), node.coord)
        parts = self._statements([node], inside)
        return parts[0] if len(parts) == 1 else block(parts, node.coord)

    def _branch(
        self, node: c_ast.If, behind: list[c_ast.Node], inside: Construct
    ) -> list[c_ast.Node]:
        """Return an `if` with a jump below it, and what stands behind it."""
        first, second = self._outcome(node.iftrue), self._outcome(node.iffalse)
        arms = [[x] if x is not None else [] for x in (node.iftrue, node.iffalse)]
        if not first.goes_on:
            arms[1] += behind
        elif not second.goes_on:
            arms[0] += behind
        parts = [self._statements(arm, inside) for arm in arms]
        made = c_ast.If(
            node.cond,
            block(parts[0], node.coord),
            block(parts[1], node.coord) if parts[1] else None,
            node.coord,
        )
        if not first.goes_on or not second.goes_on:
            return [made]
        targets = first.targets | second.targets
        return [made, *self._guarded(targets, node, behind, inside)]

    def _guarded(
        self,
        targets: frozenset[Target],
        passed: c_ast.Node,
        behind: list[c_ast.Node],
        inside: Construct,
    ) -> list[c_ast.Node]:
        """Return statements that are carried out unless control has gone to one of `targets`.

        Parameters
        ----------
        passed: what is done before them, as a whole: no one knows how much of it.
        """
        if not behind:
            return []
        at = passed.coord
        before, self._done = self._done, [*self._done, passed]
        rest = self._statements(behind, inside)
        self._done = before
        if not targets:
            return rest
        return [c_ast.If(self._not_left(targets, inside, at), block(rest, at), None, at)]

    def _not_left(self, targets: frozenset[Target], inside: Construct, at: Place) -> c_ast.Node:
        """Return the condition that control is still there."""
        flags: dict[str, Flag] = {}
        for target in sorted(targets):
            flag = self._flag_of(target, inside)
            flag.is_asked = True
            flags[flag.name] = flag
        asked = [c_ast.UnaryOp("!", named(name, at), at) for name in flags]
        condition = joined(asked)
        assert condition is not None, "something is left"
        return condition

    def _flag_of(self, target: Target, inside: Construct) -> Flag:
        """Return the flag that tells in a construct that control has gone to a target."""
        for construct in inside.outwards():
            if construct.is_ended_by(target):
                return construct.flag(target)
            if construct.kind == "loop":
                return construct.left
        return inside.left

    def _jump(self, node: c_ast.Node, inside: Construct) -> list[c_ast.Node]:
        """Return what stands in place of a jump: flags of all that is left."""
        target, at = target_of(node), node.coord
        assert target is not None
        found: list[c_ast.Node] = []
        is_return = isinstance(node, c_ast.Return) and node.expr is not None
        if is_return and self._result is not None:
            found.append(assign(self._result, node.expr, at))
        for construct in inside.outwards():
            if construct.is_ended_by(target):
                return [*found, self._set(construct.flag(target), at)]
            if construct.kind == "loop":
                found.append(self._set(construct.left, at))
        return [node]

    # What is left.

    def _switch(self, node: c_ast.Switch, inside: Construct) -> list[c_ast.Node]:
        chosen = chosen_by_if(node, self._names)
        if chosen is None:
            return [node]
        return self._once(chosen, "switch", inside, node.coord)

    def _once(
        self, items: Sequence[c_ast.Node], kind: str, inside: Construct, at: Place
    ) -> list[c_ast.Node]:
        """Return statements that are carried out once, out of which `break` leads."""
        construct = self._construct(kind, inside)
        found = self._statements(items, construct)
        return [block(self._declared(construct.left, at) + found, at)]

    def _loop(self, node: Loop, inside: Construct) -> list[c_ast.Node]:
        """Return a loop without jumps in it."""
        ends = self._outcome(node.stmt)
        bound = self._bounds.get(node.coord.line)
        attempt = self._unread.get(node.coord.line, 0)
        if attempt and bound is None:
            guarded = self._loops.guarded(node, attempt > 1, is_begun=id(node) in self._begun)
            if isinstance(guarded, Counted):
                return self._counted(guarded, inside)
            if guarded is not None:
                self._note_full(guarded.cond, node.coord)
                return self._plain_loop(guarded, inside)
        if _runs_once(node):
            return self._once(items_of(node.stmt), "once", inside, node.coord)
        is_left = bool(ends.targets - {CONTINUE}) or bound is not None
        is_plain = isinstance(node, c_ast.For) and node.cond is not None and node.next is not None
        is_plain = is_plain and not any(True for _ in assigned(node.cond))
        if is_plain and not is_left and not attempt:
            return self._plain_loop(node, inside)
        shape = self._loops.counted(node, self._done, bound, is_forced=attempt > 0)
        if shape is not None:
            return self._counted(shape, inside)
        if is_plain and not is_left:
            return self._plain_loop(node, inside)
        return [c_ast.While(node.cond or integer(1, node.coord), node.stmt, node.coord)]

    def _note_full(self, condition: c_ast.Node, at: Place) -> None:
        """Note that a loop runs to its bound, whenever the program leaves it."""
        stop = number(condition.right) if isinstance(condition, c_ast.BinaryOp) else None
        bound = "to the end of its range" if stop is None else f"until its iterator is {stop}"
        self.full.append((c_ast.EmptyStatement(at), bound))

    def _plain_loop(self, node: c_ast.For, inside: Construct) -> list[c_ast.Node]:
        """Return a loop that nothing leaves."""
        construct = self._construct("loop", inside)
        with self._capacity.inside_of(node):
            body = self._iteration(items_of(node.stmt), [], construct, node.coord)
        if isinstance(node.stmt, c_ast.Compound):
            node.stmt.block_items = body
        else:
            node.stmt = body[0] if len(body) == 1 else block(body, node.coord)
        return [node]

    def _iteration(
        self,
        items: Sequence[c_ast.Node],
        closing: Sequence[c_ast.Node],
        construct: Construct,
        at: Place,
    ) -> list[c_ast.Node]:
        """Return the body of a loop, and what a `continue` leads to."""
        before, self._done = self._done, []
        found = self._statements(items, construct)
        found = self._declared(construct.skipped, at) + found
        last = self._statements(closing, construct)
        self._done = before
        if not closing:
            return found
        if outcome_of(items).targets - {CONTINUE}:
            construct.left.is_asked = True
            guard = c_ast.UnaryOp("!", named(construct.left.name, at), at)
            last = [c_ast.If(guard, block(last, at), None, at)]
        return [*found, *last]

    def _counted(self, shape: Counted, inside: Construct) -> list[c_ast.Node]:
        """Return a loop that counts, out of its parts."""
        at = shape.place
        construct = self._construct("loop", inside)
        body = self._iteration(shape.items, shape.closing, construct, at)
        left = construct.left
        if left.sets:
            self._note_full(shape.condition, at)
        behind: list[c_ast.Node] = shape.behind
        keeping: list[c_ast.Node] = []
        if left.sets:
            left.is_asked = True
            guard = c_ast.UnaryOp("!", named(left.name, at), at)
            body = [c_ast.If(guard, block(body, at), None, at)]
            keeping = [
                declaration(v, self._variables.type(k), integer(0, at), at)
                for k, v in shape.kept.items()
            ]
            if shape.kept:
                back = block([assign(k, named(v, at), at) for k, v in shape.kept.items()], at)
                otherwise = block(shape.behind, at) if shape.behind else None
                behind = [c_ast.If(named(left.name, at), back, otherwise, at)]
        body = [*body, *shape.steps]
        loop = c_ast.For(shape.init, shape.condition, shape.next, block(body, at), at)
        before = self._statements(shape.before, inside)
        made = [*before, *self._declared(left, at), *keeping, loop, *behind]
        return made if len(made) == 1 else [block(made, at)]


def _runs_once(node: Loop) -> bool:
    """Return whether a loop has one iteration by its form."""
    if isinstance(node, c_ast.DoWhile) and number(node.cond) == 0:
        return True
    ends = outcome(node.stmt)
    is_endless = node.cond is None or bool(number(node.cond))
    no_next = not isinstance(node, c_ast.For) or (node.init is None and node.next is None)
    return is_endless and no_next and not ends.goes_on and CONTINUE not in ends.targets


def _declared_first(
    items: Sequence[c_ast.Node],
) -> tuple[list[c_ast.Node], list[c_ast.Node]]:
    """Return the declarations of statements, and the statements that give them their values.

    What stands behind them may use what they declare.
    """
    declared: list[c_ast.Node] = []
    others: list[c_ast.Node] = []
    for item in items:
        if isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.TypeDecl):
            if item.init is not None and not item.storage:
                others.append(assign(item.name, item.init, item.coord))
                item.init = None
                item.quals = [qual for qual in item.quals if qual != "const"]
            declared.append(item)
        elif isinstance(item, c_ast.Decl | c_ast.Typedef):
            declared.append(item)
        else:
            others.append(item)
    return declared, others


def _labelled(node: c_ast.Label, parts: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """Put a label before the loop among the statements that stand in the place of one."""
    found = list(parts)
    for place, part in enumerate(found):
        if isinstance(part, c_ast.For):
            found[place] = c_ast.Label(node.name, part, node.coord)
            return found
        if isinstance(part, c_ast.Compound):
            part.block_items = _labelled(node, part.block_items or ())
    return found
