"""Put a mutant into this process: the functions that everybody has imported get its code."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rtlgen.errors import _REGISTRY

Place = tuple[str, int]
"""Qualified name and first line of a function."""


def apply(module: ModuleType, tree: ast.Module) -> None:
    """Let `module` do what `tree`, a mutant of its own source, says.

    Functions are changed in place, so that it does not matter who has imported them by name, or
    keeps them in a cache. Constants and defaults are changed wherever they are known by their name.

    Raises
    ------
    LookupError: a function of the module is nowhere in this process.
    """
    path = module.__file__
    assert path is not None
    code = compile(tree, path, "exec", dont_inherit=True)
    fresh = dict(_codes(code))
    changed = set()
    for function in _functions(path):
        place = _place(function.__code__)
        if place in fresh:
            function.__code__ = fresh[place]
            changed.add(place)
    # A function inside of another one comes into being when that is called.
    if missing := {name for name, line in fresh.keys() - changed if "<" not in name}:
        raise LookupError(f"{path}: nothing is known of {sorted(missing)}")
    _copy_values(vars(module), _run_once_more(module, code))


def forget_results() -> None:
    """Empty every cache of the package, so that a mutant computes all anew."""
    for cache in _objects():
        if hasattr(type(cache), "cache_clear") and _is_of_package(cache):
            cache.cache_clear()


def _is_of_package(cache: object) -> bool:
    name = getattr(cache, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in ("rtlgen", "tests")


def _run_once_more(module: ModuleType, code: CodeType) -> dict[str, object]:
    """Return what `code` defines in the place of a module, which stays as it is."""
    scratch = {**vars(module)}
    known = dict(_REGISTRY)
    # A code names one class of errors: those of the module make room for themselves.
    for name, error in known.items():
        if error.__module__ == module.__name__:
            del _REGISTRY[name]
    try:
        exec(code, scratch)
    finally:
        _REGISTRY.clear()
        _REGISTRY.update(known)
    return scratch


def _objects() -> list[Any]:
    """Return all objects; those that were frozen are kept from the collector, and from its list."""
    gc.unfreeze()
    return gc.get_objects()


def _functions(path: str) -> list[FunctionType]:
    return [
        found
        for found in _objects()
        if isinstance(found, FunctionType) and found.__code__.co_filename == path
    ]


def _codes(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            # The body of a class is code, too, but of no function.
            if constant.co_flags & inspect.CO_OPTIMIZED:
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
