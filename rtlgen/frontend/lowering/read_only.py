"""Values in place of addresses, where a function only reads what it is handed.

    int twice(const int *p) { return 2 * *p; }    int twice(const int p) { return 2 * p; }
    ... twice(&n) ...                             ... twice(n) ...

So it is where nobody else has the address of `n`, which stays what it is while a function runs that
has it to read, and where every call hands over such a variable. Members of a structure that goes
from function to function by its address become that: a size among them stays known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import map_children, number
from rtlgen.frontend.syntax.assigned import below, called_by, functions
from rtlgen.frontend.syntax.region import parameters


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter, by its function and its place."""

    function: str
    place: int


def hand_over_values(tree: c_ast.FileAST, kernel: str) -> None:
    """Rewrite a file so that functions take the values of what they only read, in place.

    Parameters
    ----------
    kernel: the name of the function that the host calls, with what it says.
    """
    known = {name: _Function(node) for name, node in functions(tree).items()}
    chosen = {
        _Parameter(name, place): node.name
        for name, function in known.items()
        if name != kernel
        for place, node in enumerate(function.parameters)
        if _points_to_constant_number(node) and function.declared[node.name] == 1
    }
    while True:
        # One that goes on to another function depends on that one.
        kept = _read_only(known, chosen)
        if kept == chosen:
            break
        chosen = kept
    if not chosen:
        return
    for name, function in known.items():
        own = {read for p, read in chosen.items() if p.function == name}
        map_children(function.node.body, partial(_with_values, own=own, chosen=chosen))
    for node in below(tree):
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            for place, parameter in enumerate(node.type.args.params if node.type.args else ()):
                if _Parameter(node.name, place) in chosen:
                    parameter.type = parameter.type.type


class _Function:
    """What a function does with names.

    Members
    -------
    parameters: those with a name: no function with others may be called. locals: declarations
        below, by name.
    declared, used, read, addressed: how often each name is declared, stands anywhere, stands as a
        pointer whose element is read at its place, and has its address taken. calls: that it makes.
    """

    def __init__(self, node: c_ast.FuncDef) -> None:
        self.node = node
        self.parameters = parameters(node)
        inside = list(below(node.body))
        self.locals = {each.name: each for each in inside if isinstance(each, c_ast.Decl)}
        names = [each.name for each in inside if isinstance(each, c_ast.Decl)]
        self.declared = Counter([*(each.name for each in self.parameters), *names])
        self.used = Counter(each.name for each in inside if isinstance(each, c_ast.ID))
        self.read = Counter(map(_read_by, inside))
        self.addressed = Counter(map(_addressed, inside))
        self.calls = [each for each in inside if isinstance(each, c_ast.FuncCall)]

    def arguments(self) -> Iterator[tuple[_Parameter, c_ast.Node]]:
        """Yield the arguments of all calls, and what each is given as."""
        for node in self.calls:
            for place, argument in enumerate(node.args.exprs if node.args is not None else ()):
                yield _Parameter(called_by(node), place), argument

    def is_own(self, name: str, names: list[str], handed: int) -> bool:
        """Tell whether nobody else can change a variable of a type while a function runs.

        Parameters
        ----------
        names: of the type. handed: how often its address is handed over only to be read through.
        """
        given = {each.name: each for each in self.parameters}
        declared = given.get(name) or self.locals.get(name)
        if declared is None or self.declared[name] != 1 or declared.storage:
            return False
        is_number = isinstance(declared.type, c_ast.TypeDecl)
        is_same = is_number and getattr(declared.type.type, "names", None) == names
        return is_same and self.addressed[name] == handed


def _points_to_constant_number(node: c_ast.Decl) -> bool:
    if not isinstance(node.type, c_ast.PtrDecl):
        return False
    inner = node.type.type
    return (
        isinstance(inner, c_ast.TypeDecl)
        and isinstance(inner.type, c_ast.IdentifierType)
        and inner.quals == ["const"]
    )


def _read_only(
    functions: dict[str, _Function], chosen: dict[_Parameter, str]
) -> dict[_Parameter, str]:
    """Return those of some parameters through which a function reads what nobody changes."""
    refused = set[_Parameter]()
    called, used = Counter[str](), Counter[str]()
    for name, function in functions.items():
        called.update(map(called_by, function.calls))
        used.update(function.used)
        own = {pointer for p, pointer in chosen.items() if p.function == name}
        given = [(p, argument) for p, argument in function.arguments() if p in chosen]
        handed = Counter(_addressed(argument) for _, argument in given)
        passed = Counter(each.name for _, each in given if isinstance(each, c_ast.ID))
        refused |= {
            p
            for p, pointer in chosen.items()
            if p.function == name
            and function.read[pointer] + passed[pointer] != function.used[pointer]
        }
        for p, argument in given:
            if isinstance(argument, c_ast.ID):
                is_kept = argument.name in own
            else:
                variable = _addressed(argument)
                type_ = functions[p.function].parameters[p.place].type.type.type
                is_kept = function.is_own(variable, type_.names, handed[variable])
            if not is_kept:
                refused.add(p)
    # What is more than called, has a caller that nobody knows; and so has a call without arguments.
    arguments = Counter(p for function in functions.values() for p, _ in function.arguments())
    return {
        p: pointer
        for p, pointer in chosen.items()
        if p not in refused and used[p.function] == called[p.function] == arguments[p]
    }


def _addressed(node: c_ast.Node) -> str:
    """Return the variable of which something is the address; "" if of none."""
    match node:
        case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
            return str(name)
    return ""


def _read_by(node: c_ast.Node) -> str:
    """Return the pointer whose element a node is, if it is that at its place; else ""."""
    match node:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return str(name)
        case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=subscript):
            return str(name) if number(subscript) == 0 else ""
    return ""


def _with_values(node: c_ast.Node, own: set[str], chosen: dict[_Parameter, str]) -> c_ast.Node:
    """Return a part of a function that takes values in place of pointers, and hands them over."""
    if _read_by(node) in own:
        return node.expr if isinstance(node, c_ast.UnaryOp) else node.name
    if isinstance(node, c_ast.FuncCall) and node.args is not None:
        node.args.exprs = [
            argument.expr
            if isinstance(argument, c_ast.UnaryOp)
            and argument.op == "&"
            and _Parameter(called_by(node), place) in chosen
            else argument
            for place, argument in enumerate(node.args.exprs)
        ]
    map_children(node, partial(_with_values, own=own, chosen=chosen))
    return node
