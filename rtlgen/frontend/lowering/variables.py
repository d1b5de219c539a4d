"""The scalars of a function, as its text declares and uses them."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.writers import below

WIDTHS = {"char": 8, "short": 16, "int": 32, "long": 64, "_Bool": 1}
_FIXED = {f"{sign}int{width}_t": width for sign in ("", "u") for width in (8, 16, 32, 64)}
_INTEGERS = frozenset((*WIDTHS, "signed", "unsigned", *_FIXED, "size_t", "ptrdiff_t", "ssize_t"))


class Variables:
    """What a function declares.

    A name that is declared twice with different types, or of which something else than a number is
    declared, is none of its scalars.
    """

    def __init__(self, function: c_ast.FuncDef) -> None:
        self._function = function
        self._types: dict[str, tuple[str, ...] | None] = {}
        arguments = function.decl.type.args
        for node in [*(arguments.params if arguments is not None else ()), function.body]:
            for part in below(node):
                if isinstance(part, c_ast.Decl) and part.name is not None:
                    self._declare(part)
                match part:
                    case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                        # Who has its address may change it.
                        self._types[name] = None

    def _declare(self, node: c_ast.Decl) -> None:
        names = None
        is_plain = isinstance(node.type, c_ast.TypeDecl) and not node.storage
        if is_plain and isinstance(node.type.type, c_ast.IdentifierType):
            names = tuple(node.type.type.names)
            if not set(names) <= _INTEGERS or "volatile" in node.quals:
                names = None
        if node.name in self._types and self._types[node.name] != names:
            names = None
        self._types[node.name] = names

    def is_scalar(self, name: str) -> bool:
        """Return whether a name stands for one integer of the function, wherever it is used."""
        return self._types.get(name) is not None

    def type_names(self, name: str) -> tuple[str, ...]:
        """Return the type of a scalar, word by word."""
        names = self._types.get(name)
        assert names is not None, f"{name} is no scalar"
        return names

    def width_bits(self, name: str) -> int:
        """Return the width of a scalar."""
        names = self._types.get(name) or ("long",)
        return next(
            (w for n in names if (w := _FIXED.get(n) or WIDTHS.get(n)) and n != "int"),
            64 if {"size_t", "ptrdiff_t", "ssize_t"} & set(names) else 32,
        )

    def limits(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of a scalar."""
        names, width = self._types.get(name) or (), self.width_bits(name)
        is_unsigned = any(n.startswith("u") or n in ("size_t", "_Bool") for n in names)
        low = 0 if is_unsigned else -(1 << (width - 1))
        return low, low + (1 << width) - 1

    def may_be_unsigned(self, expression: c_ast.Node) -> bool:
        """Return whether an expression may be computed, or compared, as an unsigned number.

        A narrow number is an int there; what is no scalar of the function may be anything.
        """
        for part in below(expression):
            match part:
                case c_ast.ID(name=name):
                    is_wide = not self.is_scalar(name) or self.width_bits(name) >= 32
                    if is_wide and (not self.is_scalar(name) or self.limits(name)[0] == 0):
                        return True
                case c_ast.Constant(type=type_) if type_ not in ("int", "long int", "char"):
                    return True
                case c_ast.Cast() | c_ast.UnaryOp(op="sizeof") | c_ast.FuncCall():
                    return True
        return False

    def wrapped(self, name: str, value: int) -> int:
        """Return what a scalar holds that is set to a number."""
        low, high = self.limits(name)
        return low + (value - low) % (high - low + 1)

    def is_used_outside(self, name: str, loop: c_ast.Node) -> bool:
        """Return whether something but a loop may use the value that it leaves in a scalar.

        A loop that sets the scalar first uses its own value.
        """
        return _uses(self._function.body, name, loop)


def _uses(node: c_ast.Node | None, name: str, loop: c_ast.Node) -> bool:
    if node is None or node is loop:
        return False
    match node:
        case c_ast.ID():
            return bool(node.name == name)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)) if target == name:
            return _uses(node.rvalue, name, loop)
        case c_ast.For(init=c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target))) if (
            target == name
        ):
            return _uses(node.init.rvalue, name, loop)
        case c_ast.For(init=c_ast.DeclList(decls=parts)) if any(p.name == name for p in parts):
            return any(_uses(part.init, name, loop) for part in parts)
    return any(_uses(child, name, loop) for _, child in node.children())
