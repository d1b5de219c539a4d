"""pcpp's lexer, with C's numbers (C23 6.4.8): `0x1F`, `12ULL`, `1e-5` and `1'000` are one token.

pcpp cuts them where its own patterns end, and takes what is left for something else: the `x` of
`0x##x` for a parameter of the macro, the separators of digits for the quotes of a character.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from pcpp import parser

from rtlgen.frontend.text.tokens import NUMBER


def preprocessor_lexer() -> Any:
    """Return a lexer for one run of pcpp."""
    return _lexer().clone()


@cache
def _lexer() -> Any:
    rules = ModuleType("rules")
    mine = {name: rule for name, rule in vars(parser).items() if name.startswith("t_")}
    vars(rules).update(mine, t_CPP_INTEGER=_number)
    vars(rules).update(tokens=parser.tokens, literals=parser.literals, __file__=parser.__file__)
    return parser.lex.lex(module=rules, optimize=True, lextab="")


def _number(token: Any) -> Any:
    return token


_number.__doc__ = NUMBER
