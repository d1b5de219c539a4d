"""C23's spellings in those of C11.

Rewrite
-------
    bool on = true;                        _Bool on = 1;
    constexpr int n = 8;                   static const int n = 8;
    [[maybe_unused]] int t;                int t;
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.text.extensions import attribute_refusal, is_harmless

_KEYWORDS = frozenset(
    (
        "alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert",
        "thread_local", "true", "typeof", "typeof_unqual",
    )
)  # fmt: skip
_NUMBERS = {"true": "1", "false": "0"}


def is_newer_c(tree: c_ast.FileAST, words: frozenset[str]) -> bool:
    """Return whether a file that is C11 means keywords of C23 by names that it does not declare.

    Parameters
    ----------
    words: the tokens of the program.
    """
    used = _KEYWORDS & words
    if not used:
        return False
    named = {node.name for node in below(tree) if isinstance(node, c_ast.ID)}
    declared = {
        node.name
        for node in below(tree)
        if isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Enumerator)
    }
    return bool(used & named - declared)


def newer_c_as_older(tree: c_ast.FileAST, locator: Locator) -> c_ast.FileAST:
    """Rewrite a file of C23 in place, and return it.

    Types that the file leaves to be found, and bit-precise ones, stay.

    Raises
    ------
    UnsupportedDeclaration: an attribute may change what the program computes.
    """
    for node in below(tree):
        if isinstance(node, c_ast.Attribute):
            _check(node, locator)
    for node in below(tree):
        for field in node.__slots__:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [_older(part) for part in value if not _is_attribute(part)]
            elif isinstance(value, c_ast.Node):
                setattr(node, field, _older(value))
    return tree


def _check(node: c_ast.Attribute, locator: Locator) -> None:
    # To pass over one of the standard's own never changes what is right (C23 6.7.13.2).
    if node.namespace is not None and not is_harmless(node.name):
        span = locator.span(node)
        raise attribute_refusal(f"{node.namespace}::{node.name}", span)


def _is_attribute(part: object) -> bool:
    return isinstance(part, c_ast.AttributeSpecifier | c_ast.AttributeDeclaration)


def _older(node: object) -> object:
    """Return what stands in place of a part of a node."""
    match node:
        case c_ast.AttributedStatement(stmt=inner) | c_ast.AttributedType(type=inner):
            return _older(inner)
        case c_ast.IdentifierType(names=names):
            node.names = ["_Bool" if name == "bool" else name for name in names]
        case c_ast.Constant(type="bool", value=text):
            return c_ast.Constant("int", _NUMBERS[text], node.coord)
        case c_ast.Decl(storage=[*storage]) if "constexpr" in storage:
            node.storage = [name for name in storage if name not in ("constexpr", "static")]
            node.storage.append("static")
            _make_const(node)
        case c_ast.Decl(storage=[*storage]) if "thread_local" in storage:
            node.storage = ["_Thread_local" if n == "thread_local" else n for n in storage]
    return node


def _make_const(node: c_ast.Decl) -> None:
    node.quals = [*node.quals, "const"]
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        inner = inner.type
    if isinstance(inner, c_ast.TypeDecl | c_ast.PtrDecl):
        inner.quals = [*inner.quals, "const"]
