"""Put a mutant into this process: the functions that everybody has imported get its code."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

Place = tuple[str, int]
"""Qualified name and first line of a function."""


def apply(module: ModuleType, tree: ast.Module) -> None:
    """Let `module` do what `tree`, a mutant of its own source, says.

    Functions are changed in place, so that it does not matter who has imported them by name, or
    keeps them in a cache. Constants and defaults are changed wherever they are known by their name.
    """
    path = module.__file__
    assert path is not None
    code = compile(tree, path, "exec", dont_inherit=True)
    fresh = dict(_codes(code))
    for function in _functions(path):
        new = fresh.get(_place(function.__code__))
        if new is not None:
            function.__code__ = new
    scratch = {**vars(module)}
    exec(code, scratch)
    _copy_values(vars(module), scratch)


def forget_results() -> None:
    """Empty every cache of the package, so that a mutant computes all anew."""
    for cache in gc.get_objects():
        if hasattr(type(cache), "cache_clear") and _is_of_package(cache):
            cache.cache_clear()


def _is_of_package(cache: object) -> bool:
    name = getattr(cache, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in ("rtlgen", "tests")


def _functions(path: str) -> list[FunctionType]:
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, FunctionType) and found.__code__.co_filename == path
    ]


def _codes(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield _place(constant), constant
            yield from _codes(constant)


def _place(code: CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno


def _copy_values(old: dict[str, object], new: dict[str, object]) -> None:
    """Take constants, and defaults of functions, over from a module that was run once more."""
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, FunctionType) and isinstance(before, FunctionType):
            before.__defaults__, before.__kwdefaults__ = value.__defaults__, value.__kwdefaults__
        elif isinstance(value, int | str | tuple | dict) and value != before:
            for module in list(sys.modules.values()):
                if vars(module).get(name) is before:
                    setattr(module, name, value)
        elif isinstance(value, type) and value is not before and isinstance(before, type):
            _copy_class(before, value)


def _copy_class(before: type, value: type) -> None:
    for name, found in vars(value).items():
        known = vars(before).get(name)
        if isinstance(found, FunctionType) and isinstance(known, FunctionType):
            known.__defaults__, known.__kwdefaults__ = found.__defaults__, found.__kwdefaults__
        elif isinstance(found, int | str) and not name.startswith("__") and found != known:
            setattr(before, name, found)
