"""What a piece of the syntax tree assigns, found without reading it."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from rtlgen.frontend.headers import type_names

STEPS = ("++", "--", "p++", "p--")
"""pycparser's names of the operators that step a variable; `p` stands for postfix."""


_KEYWORDS = ("_Bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double")
NUMBERS = frozenset((*_KEYWORDS, *type_names()))
"""Words that spell types of numbers."""


def assigned(root: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """Yield the C name and the node of everything that an assignment below `root` may change.

    Something whose address is passed to a function may be changed by it, and what a pointer is
    declared to point to by way of the pointer.
    """
    for node in below(root):
        for name in assigned_by(node):
            yield name, node


def assigned_by(node: c_ast.Node) -> Iterator[str]:
    """Yield the C names of what a node itself may change."""
    match node:
        case c_ast.Assignment(lvalue=target):
            yield from _named(target)
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" | "&", expr=target):
            yield from _named(target)
        case c_ast.Decl(type=c_ast.PtrDecl(), init=target) if target is not None:
            yield from _named(target)


def handed_over(root: c_ast.Node) -> Iterator[str]:
    """Yield the C names that arguments of calls begin with: a function may change an array.

    It changes neither what it takes as a number nor what it takes as a pointer to constants.
    """
    taken = _parameters(root)
    for node in below(root):
        if isinstance(node, c_ast.FuncCall) and node.args is not None:
            name = node.name.name if isinstance(node.name, c_ast.ID) else ""
            parameters = taken.get(name, ())
            for place, argument in enumerate(node.args.exprs):
                if place >= len(parameters) or _is_changeable(parameters[place]):
                    yield from _named(argument)


def _parameters(root: c_ast.Node) -> dict[str, tuple[c_ast.Node, ...]]:
    """Return the parameters of each function that is declared below `root`."""
    found = {}
    for node in below(root):
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            arguments = node.type.args
            found[node.name] = tuple(arguments.params) if arguments is not None else ()
    return found


def _is_changeable(parameter: c_ast.Node) -> bool:
    """Return whether a function may change what it is given as `parameter`."""
    if not isinstance(parameter, c_ast.Decl | c_ast.Typename):
        return True
    match parameter.type:
        case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
            # A name for a type may stand for an array.
            return not set(names) <= NUMBERS
        case (
            c_ast.PtrDecl(type=c_ast.TypeDecl(quals=quals))
            | c_ast.ArrayDecl(type=c_ast.TypeDecl(quals=quals))
        ):
            return "const" not in quals
    return True


def calls(root: c_ast.Node) -> bool:
    """Return whether a function is called below `root`."""
    return any(isinstance(node, c_ast.FuncCall) for node in below(root))


def below(root: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield `root` and every node below it, in no particular order."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for _, child in node.children())


def declared(root: c_ast.Node) -> frozenset[str]:
    """Return the names that are declared below `root`."""
    return frozenset(part.name for part in below(root) if isinstance(part, c_ast.Decl))


def mentions(root: c_ast.Node, names: frozenset[str]) -> bool:
    """Return whether one of `names` stands below `root`."""
    return any(isinstance(part, c_ast.ID) and part.name in names for part in below(root))


def single_statement(node: c_ast.Node | None) -> c_ast.Node | None:
    """Return the only statement of a branch, out of its braces; None if there are several."""
    while isinstance(node, c_ast.Compound) and len(node.block_items or ()) == 1:
        node = node.block_items[0]
    return None if isinstance(node, c_ast.Compound) else node


def _named(target: c_ast.Node) -> Iterator[str]:
    """Yield the name that an lvalue begins with."""
    base = target
    while isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
        match base:
            case c_ast.ArrayRef():
                base = base.name
            case c_ast.UnaryOp():
                base = base.expr
            case c_ast.BinaryOp():
                yield from _named(base.right)
                base = base.left
    if isinstance(base, c_ast.ID):
        yield base.name
