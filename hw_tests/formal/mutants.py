"""Parts with one line changed, for proofs that have to fail then."""

from __future__ import annotations

import inspect
import sys
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)


def changed(kind: Kind, old: str, new: str) -> Kind:
    """Return a class whose text has `new` for `old`.

    Raises
    ------
    ValueError: the text does not have `old` exactly once.
    """
    return _changed(kind, inspect.getsource(kind), old, new)


def changed_module(kind: Kind, old: str, new: str) -> Kind:
    """Return a class whose module has `new` for `old`.

    Raises
    ------
    ValueError: the text does not have `old` exactly once.
    """
    return _changed(kind, inspect.getsource(sys.modules[kind.__module__]), old, new)


def _changed(kind: Kind, text: str, old: str, new: str) -> Kind:
    if text.count(old) != 1:
        raise ValueError(f"{kind.__name__} has {old!r} {text.count(old)} times")
    names = dict(vars(sys.modules[kind.__module__]))
    exec(compile(text.replace(old, new), kind.__module__, "exec"), names)
    mutant: Kind = names[kind.__name__]
    return mutant
