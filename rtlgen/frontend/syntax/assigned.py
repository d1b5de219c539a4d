"""What a piece of the syntax tree assigns, uses and asserts, found without reading it.

Names are taken as they stand; what they stand for is for the reader of declarations to say. Which
variables count loops is found by C's scopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.frontend.text.headers import type_names

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
            parameters = taken.get(called_by(node), ())
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


def functions(tree: c_ast.FileAST) -> dict[str, c_ast.FuncDef]:
    """Return the functions that a file defines, by their names."""
    return {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}


def calls(root: c_ast.Node | None) -> bool:
    """Return whether a function is called below `root`."""
    return root is not None and any(isinstance(node, c_ast.FuncCall) for node in below(root))


def called_by(node: c_ast.Node) -> str:
    """Return the name of the function that a node itself calls; "" if it calls none by its name."""
    is_named = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    return str(node.name.name) if is_named else ""


def called_below(*roots: c_ast.Node) -> set[str]:
    """Return the names of the functions that are called below some nodes."""
    return {name for node in below(*roots) if (name := called_by(node))}


def below(*roots: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield some nodes and every node below them, in no particular order."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for _, child in node.children())


def declared(*roots: c_ast.Node) -> frozenset[str]:
    """Return the names that are declared below some nodes."""
    return frozenset(part.name for part in below(*roots) if isinstance(part, c_ast.Decl))


def mentioned(*roots: c_ast.Node | None) -> frozenset[str]:
    """Return the names that stand below some nodes, if they are there."""
    parts = below(*(root for root in roots if root is not None))
    return frozenset(part.name for part in parts if isinstance(part, c_ast.ID))


def mentions(root: c_ast.Node, names: frozenset[str]) -> bool:
    """Return whether one of `names` stands below `root`."""
    return any(isinstance(part, c_ast.ID) and part.name in names for part in below(root))


def conjuncts(condition: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """Yield what `&&` joins, or `&` of answers of which nobody can tell which is asked first."""
    match condition:
        case c_ast.BinaryOp(op="&&" | "&" as op, left=left, right=right) if op == "&&" or all(
            is_answer(x) and not calls(x) and not any(assigned(x)) for x in (left, right)
        ):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case c_ast.Node():
            yield condition


def is_answer(node: c_ast.Node) -> bool:
    """Return whether a value is 0 or 1 by the form of its expression."""
    match node:
        case c_ast.UnaryOp(op="!"):
            return True
        case c_ast.BinaryOp(op="&" | "|" | "^", left=left, right=right):
            return is_answer(left) and is_answer(right)
        case c_ast.BinaryOp(op=op):
            return op in ("&&", "||", "<", "<=", ">", ">=", "==", "!=")
    return False


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


def counters_used_elsewhere(body: c_ast.Node) -> frozenset[int]:
    """Return the variables declared in `body` that count loops, and are used outside of these.

    They are told by the identities of their declarations. Names are resolved as C does, so that a
    variable of the same name in another block is not taken for the counter.
    """
    search = _Search()
    search.visit(body, ({},))
    return frozenset(search.counting & search.used)


@dataclass(slots=True)
class _Search:
    counting: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)
    _around: list[int] = field(default_factory=list)

    def visit(self, node: c_ast.Node, scopes: Sequence[dict[str, c_ast.Decl]]) -> None:
        """Note what counts loops below `node`, and what is mentioned outside of such loops."""
        match node:
            case c_ast.Compound():
                scopes = (*scopes, {})
            case c_ast.Decl():
                if node.init is not None:
                    self.visit(node.init, scopes)
                if node.name is not None:
                    scopes[-1][node.name] = node
                return
            case c_ast.ID(name=name):
                declared = _declaration(name, scopes)
                if declared is not None and id(declared) not in self._around:
                    self.used.add(id(declared))
                return
            case c_ast.For():
                self._loop(node, (*scopes, {}))
                return
        for _, child in node.children():
            self.visit(child, scopes)

    def _loop(self, node: c_ast.For, scopes: Sequence[dict[str, c_ast.Decl]]) -> None:
        counter = None
        match node.init:
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=start):
                counter = _declaration(name, scopes)
                self.visit(start, scopes)
            case None:
                # It goes on from the value that was there before.
                counter = _declaration(stepped_by(node.next), scopes)
                self.used |= set() if counter is None else {id(counter)}
            case _:
                self.visit(node.init, scopes)
        if counter is not None:
            self.counting.add(id(counter))
            self._around.append(id(counter))
        for part in (node.cond, node.next, node.stmt):
            if part is not None:
                self.visit(part, scopes)
        if counter is not None:
            self._around.pop()


def stepped_by(node: c_ast.Node | None) -> str:
    """Return the name of what a part of a header sets or steps; "" if that is no variable."""
    match node:
        case c_ast.Decl(name=str(name)):
            return name
        case c_ast.UnaryOp(expr=c_ast.ID(name=str(name))):
            return name
        case c_ast.Assignment(lvalue=c_ast.ID(name=str(name))):
            return name
    return ""


def stepped(node: c_ast.Node | None) -> tuple[str, c_ast.Node, int] | None:
    """Return the variable that a statement steps, by what, and whether that is added, 1, or -1."""
    match node:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=str(name))) if op in STEPS:
            return name, c_ast.Constant("int", "1", node.coord), 1 if "+" in op else -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=str(name)), rvalue=by):
            return name, by, 1 if op == "+=" else -1
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(name=str(name)), rvalue=c_ast.BinaryOp(op="+" | "-" as op) as to
        ):
            if isinstance(to.left, c_ast.ID) and to.left.name == name:
                return name, to.right, 1 if op == "+" else -1
            if op == "+" and isinstance(to.right, c_ast.ID) and to.right.name == name:
                return name, to.left, 1
    return None


def setting_of(node: c_ast.Node | None) -> tuple[str, c_ast.Node] | None:
    """Return the variable that `x = e`, `int x = e` or a header begun with it sets, and to what."""
    match node:
        case (
            c_ast.DeclList(decls=[c_ast.Decl(name=str(name), init=c_ast.Node() as value)])
            | c_ast.Decl(name=str(name), init=c_ast.Node() as value)
            | c_ast.Assignment(op="=", lvalue=c_ast.ID(name=str(name)), rvalue=value)
        ):
            return name, value
    return None


def _declaration(name: str, scopes: Sequence[dict[str, c_ast.Decl]]) -> c_ast.Decl | None:
    return next((scope[name] for scope in reversed(scopes) if name in scope), None)


class Assumption(c_ast.EmptyStatement):  # type: ignore[misc]
    """`assert(condition)`: nothing is done, and what follows may believe it.

    The condition is no part of what the program computes, and is not met by a walk over the tree.
    """

    __slots__ = ("condition",)

    def __init__(self, condition: c_ast.Node, coord: object) -> None:
        super().__init__(coord)
        self.condition = condition
