"""Values in place of addresses, where a function only reads what it is handed.

    int twice(const int *p) { return 2 * *p; }    int twice(const int p) { return 2 * p; }
    ... twice(&n) ...                             ... twice(n) ...

So it is where `n` never changes, and every call hands over such a variable. Members of a structure
that goes from function to function by its address become that: a size among them stays known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import map_children, number
from rtlgen.frontend.syntax.assigned import assigned, below, called_by


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
    functions = {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}
    chosen = {
        parameter: node.name
        for function in functions.values()
        if function.decl.name != kernel
        for parameter, node in _parameters(function)
        if _points_to_constant_number(node)
    }
    while True:
        # One that goes on to another function depends on that one.
        kept = {p: name for p, name in chosen.items() if _is_read_only(functions, p, name, chosen)}
        if kept == chosen:
            break
        chosen = kept
    for function in functions.values():
        own = {name for p, name in chosen.items() if p.function == function.decl.name}
        map_children(function.body, partial(_with_values, own=own, chosen=chosen))
    for node in below(tree):
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            for place, parameter in enumerate(node.type.args.params if node.type.args else ()):
                if _Parameter(node.name, place) in chosen:
                    parameter.type = parameter.type.type


def _parameters(function: c_ast.FuncDef) -> Iterator[tuple[_Parameter, c_ast.Decl]]:
    arguments = function.decl.type.args
    for place, node in enumerate(arguments.params if arguments is not None else ()):
        if isinstance(node, c_ast.Decl) and node.name is not None:
            yield _Parameter(function.decl.name, place), node


def _points_to_constant_number(node: c_ast.Decl) -> bool:
    if not isinstance(node.type, c_ast.PtrDecl):
        return False
    inner = node.type.type
    return (
        isinstance(inner, c_ast.TypeDecl)
        and isinstance(inner.type, c_ast.IdentifierType)
        and inner.quals == ["const"]
    )


def _is_read_only(
    functions: dict[str, c_ast.FuncDef],
    parameter: _Parameter,
    name: str,
    chosen: dict[_Parameter, str],
) -> bool:
    """Tell whether a function only reads what a pointer points to, and that never changes."""
    function = functions[parameter.function]
    if not _is_alone(function, name):
        return False
    read = sum(_read_by(node) == name for node in below(function.body))
    read += sum(_handed_on(node, name, chosen) for node in below(function.body))
    if read != _uses(function, name):
        return False
    names = dict(_parameters(function))[parameter].type.type.type.names
    for caller in functions.values():
        for node in below(caller.body):
            if called_by(node) != parameter.function:
                continue
            given = node.args.exprs if node.args is not None else []
            if parameter.place >= len(given) or not _never_changes(
                caller, given[parameter.place], names, chosen
            ):
                return False
    # What is more than called, has a caller that nobody knows.
    everywhere = [n for each in functions.values() for n in below(each.body)]
    uses = sum(isinstance(n, c_ast.ID) and n.name == parameter.function for n in everywhere)
    return bool(uses == sum(called_by(n) == parameter.function for n in everywhere))


def _never_changes(
    caller: c_ast.FuncDef, argument: c_ast.Node, names: list[str], chosen: dict[_Parameter, str]
) -> bool:
    """Tell whether an argument is the address of a variable of a type that has one value."""
    if isinstance(argument, c_ast.ID):
        own = {name for p, name in chosen.items() if p.function == caller.decl.name}
        return str(argument.name) in own
    match argument:
        case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)) if _is_alone(caller, name):
            pass
        case _:
            return False
    places = [node for _, node in _parameters(caller)]
    places += [n for n in below(caller.body) if isinstance(n, c_ast.Decl) and n.name == name]
    declared = next((node for node in places if node.name == name), None)
    if declared is None or declared.storage or not isinstance(declared.type, c_ast.TypeDecl):
        return False
    if getattr(declared.type.type, "names", None) != names:
        return False
    is_parameter = any(declared is node for _, node in _parameters(caller))
    changes = [node for changed, node in assigned(caller.body) if changed == name]
    handed = [n for n in below(caller.body) for n in _handed_addresses(n, name, chosen)]
    return (is_parameter or declared.init is not None) and len(changes) == len(handed)


def _handed_addresses(
    node: c_ast.Node, name: str, chosen: dict[_Parameter, str]
) -> Iterator[c_ast.Node]:
    """Yield the arguments of a call that are the address of a variable, only to be read."""
    if isinstance(node, c_ast.FuncCall) and node.args is not None:
        for place, argument in enumerate(node.args.exprs):
            if _Parameter(called_by(node), place) in chosen:
                match argument:
                    case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=own)) if own == name:
                        yield argument


def _handed_on(node: c_ast.Node, name: str, chosen: dict[_Parameter, str]) -> int:
    """Return how often a call hands a pointer on, only to be read through."""
    if not isinstance(node, c_ast.FuncCall) or node.args is None:
        return 0
    return sum(
        isinstance(argument, c_ast.ID)
        and argument.name == name
        and _Parameter(called_by(node), place) in chosen
        for place, argument in enumerate(node.args.exprs)
    )


def _read_by(node: c_ast.Node) -> str:
    """Return the pointer whose element a node is, if it is that at its place; else ""."""
    match node:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return str(name)
        case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=subscript):
            return str(name) if number(subscript) == 0 else ""
    return ""


def _is_alone(function: c_ast.FuncDef, name: str) -> bool:
    """Tell whether one declaration in a function has a name."""
    nodes = [node for _, node in _parameters(function)]
    nodes += [node for node in below(function.body) if isinstance(node, c_ast.Decl)]
    return len([node for node in nodes if node.name == name]) == 1


def _uses(function: c_ast.FuncDef, name: str) -> int:
    return sum(isinstance(n, c_ast.ID) and n.name == name for n in below(function.body))


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
