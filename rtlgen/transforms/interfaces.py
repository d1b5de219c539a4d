"""How a host reaches the arrays: over streams, in RAMs beside the core, in two copies.

Let arrays come in, or go out, over streams, as somebody asked for.

Rewrite
-------
    const int x[64], in a memory   ->   x, whose elements come one after another
                                        (--memory x=stream)

No access and no loop changes. Dependences keep the accesses in their order from then on.

Let arrays stand in RAMs of the user's beside the core, as somebody asked for.

Rewrite
-------
    int A[64], in a memory of the core   ->   A, in a RAM beside it (--memory A=external)

No access and no loop changes.

Two copies of an array on chip: the host has one while a run has the other.

Read an element of a stream once for all that use it.

Rewrite
-------
    if (x[i] > 0) out[n++] = x[i];    ->    x_word = x[i];
                                            if (x_word > 0) out[n++] = x_word;

Statements of one iteration that read the same element of a stream would take it from there several
times, and it is there once. What stands before the first of them takes it for all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.expr import Read
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.scop import (
    Access,
    Array,
    Node,
    Scop,
    Statement,
    StatementNode,
)
from rtlgen.options.choices import EVERY_ARRAY, EXTERNAL, STREAM, Interface, Top


class NoStream(RtlgenError):
    """`--memory` asks for a stream of something that is none.

    A stream brings the elements of an array that the function reads and never writes, or takes
    those of one that it writes and never reads: a parameter, or a global. What is read and written
    needs two arrays in the C program: one to read, and one to write. An element that is written
    under a condition on data keeps its old value elsewhere, so that is read, too: write
    `y[i] = c ? a : b;`. The checksum unit reads results where they are kept: a stream is not.
    """

    code = "E0325"


def in_streams(scop: Scop, places: Mapping[str, str], checksum: bool = False) -> Scop:
    """Return the program with streams in place of arrays.

    Parameters
    ----------
    places: of arrays by their names, see `CompileOptions.memory`; only those of streams matter.
    checksum: whether a unit reads the results after the run.

    Raises
    ------
    NoStream
    """
    every = places.get(EVERY_ARRAY) == STREAM
    arrays = []
    for array in scop.arrays:
        place = places.get(array.name)
        obstacle = _obstacle(array)
        if place == STREAM and obstacle is not None:
            raise _no_stream(array, *obstacle)
        if place is None and every and not stays_within(array):
            if obstacle is not None:
                raise _no_stream(array, *obstacle)
            place = STREAM
        if place == STREAM and checksum and array.role == "out":
            raise _no_stream(array, "gone when --checksum would read it", "leave out --checksum")
        arrays.append(replace(array, is_stream=True) if place == STREAM else array)
    for array in scop.untouched:
        if places.get(array.name) == STREAM:
            raise _no_stream(array, "neither read nor written", "leave it out")
    return replace(scop, arrays=tuple(arrays))


def stays_within(array: Array) -> bool:
    """Tell whether an array is of the circuit where nobody has named it, and all are to be
    elsewhere.
    """
    return array.storage == "local" or array.is_table or array.depth == 1


def _obstacle(array: Array) -> tuple[str, str] | None:
    """Return why an array cannot be a stream, and what to do."""
    name = array.name
    if array.is_table:
        return "a constant table", f"leave out --memory {name}={STREAM}"
    if array.storage == "local":
        return "a local array, which nobody outside sees", f"leave out --memory {name}={STREAM}"
    if array.depth == 1:
        what = "a single element" if array.shape else "a scalar variable"
        return what, f"leave out --memory {name}={STREAM}"
    if array.role not in ("in", "out"):
        return (
            "read and written",
            "give the function one array to read and another one to write, or say "
            f"--memory {name}=onchip",
        )
    return None


def _no_stream(array: Array, what: str, remedy: str) -> NoStream:
    return NoStream(
        f"{array.name} is no stream: it is {what}", labels=(Label(array.span),), help=remedy
    )


class NotExternal(RtlgenError):
    """`--memory A=external` or `--interface external` asks for something that has no RAM outside.

    An array that stands beside the core is one that the program shares with others: a parameter, or
    a global, of two elements or more. A local array is nobody else's, a table of constants has
    nothing to be written, and a single element is a register. A block of `--top axi` shows arrays
    in windows of its registers, and has no ports for a RAM: what it shares with other parts of a
    design is behind its bus.

        rtlgen build gemm.c --memory A=external -o build/gemm
    """

    code = "E0326"


def in_external(scop: Scop, places: Mapping[str, str], interface: Interface, top: Top) -> Scop:
    """Return the program with arrays beside the core.

    Parameters
    ----------
    places: of arrays by their names, see `CompileOptions.memory`. interface: of those that have
        none. top: what the module is.

    Raises
    ------
    NotExternal
    """
    every = places.get(EVERY_ARRAY, EXTERNAL if interface == "external" else None)
    arrays = []
    for array in scop.arrays:
        place = places.get(array.name)
        if place == EXTERNAL:
            _require_external(array)
        elif place is None and not stays_within(array):
            place = every
        arrays.append(replace(array, is_external=True) if place == EXTERNAL else array)
    for array in scop.untouched:
        if places.get(array.name) == EXTERNAL:
            raise _not_external(array, "neither read nor written")
    if top == "axi" and any(array.is_external for array in arrays):
        raise NotExternal(
            "a block with --top axi has no ports for RAMs beside it",
            help="build the core (--top core), or keep arrays in it or off chip (--memory axi)",
        )
    return replace(scop, arrays=tuple(arrays))


def _require_external(array: Array) -> None:
    if array.is_table:
        raise _not_external(array, "a constant table")
    if array.storage == "local":
        raise _not_external(array, "a local array, which nobody outside sees")
    if array.depth == 1:
        raise _not_external(array, "a single element" if array.shape else "a scalar variable")


def _not_external(array: Array, what: str) -> NotExternal:
    return NotExternal(
        f"{array.name} is in no RAM beside the core: it is {what}",
        labels=(Label(array.span),),
        help=f"leave out --memory {array.name}={EXTERNAL}",
    )


class NotDoubled(RtlgenError):
    """`--double-buffer` names an array of which two copies are of no use, or that there is not.

    Of the two copies, the host fills or reads one while a run has the other: so the host has to
    reach the array, and there has to be one. Local arrays and constant tables are the circuit's
    own; a scalar variable is one word, which is written in a cycle; what is off chip may be
    anywhere in memory, so that the bases of the next run name another buffer.

        rtlgen build gemm.c --double-buffer A --double-buffer B --double-buffer C -o build/gemm
    """

    code = "E0320"


def double_buffered(scop: Scop, names: Collection[str], elsewhere: Collection[str] = ()) -> Scop:
    """Return the program with two copies of some arrays, each by its name.

    Parameters
    ----------
    elsewhere: arrays that are not to be on chip.

    Raises
    ------
    NotDoubled
    """
    for name in names:
        _require_copies(scop, name, elsewhere)
    arrays = tuple(replace(a, is_double=True) if a.name in names else a for a in scop.arrays)
    return replace(scop, arrays=arrays) if names else scop


def _require_copies(scop: Scop, name: str, elsewhere: Collection[str]) -> None:
    usable = ", ".join(a.name for a in _usable(scop.arrays) if a.name not in elsewhere) or "none"
    array = next((array for array in scop.arrays if array.name == name), None)
    why = ""
    if array is None:
        is_unused = any(array.name == name for array in scop.untouched)
        what = f"no statement touches {name}" if is_unused else f"there is no array {name}"
    elif array not in _usable([array]):
        what, why = f"the host does not fill or read {name}", _what_it_is(array)
    elif name in elsewhere:
        what, why = f"{name} has no copies on chip", "this is to be off chip, or a stream"
    else:
        return
    raise NotDoubled(
        what,
        labels=(Label(array.span, why),) if array is not None else (),
        help=f"the arrays that may have two copies are {usable}",
    )


def _usable(arrays: Iterable[Array]) -> list[Array]:
    return [
        a for a in arrays if a.shape and a.storage != "local" and not (a.is_stream or a.is_external)
    ]


def _what_it_is(array: Array) -> str:
    if array.is_table:
        return "its elements are constants"
    if array.is_stream:
        return "this is a stream"
    if array.is_external:
        return "this is beside the core"
    return "this is local" if array.shape else "this is a scalar variable"


def with_shared_reads(scop: Scop) -> Scop:
    """Return a program as parsed in which statements share what they read of streams.

    Statements share a read if they are in the same loops, under the same conditions, and if one of
    them makes it whatever the data is.
    """
    for array in scop.arrays:
        if array.is_stream and array.role == "in":
            for readers, access in _shared(scop, array.name):
                scop = _with_word(scop, array, readers, access)
    return scop


def _shared(scop: Scop, array: str) -> list[tuple[list[str], Access]]:
    """Return the accesses that several statements make, with these, in program order."""
    groups: list[tuple[list[Statement], Access]] = []
    for statement, access in _reads(scop, array):
        for others, known in groups:
            if known.subscripts == access.subscripts and _are_together(others[0], statement):
                if others[-1] is not statement:
                    others.append(statement)
                break
        else:
            groups.append(([statement], access))
    return [
        ([statement.name for statement in readers], access)
        for readers, access in groups
        if len(readers) > 1 and any(_is_sure(each, access) for each in readers)
    ]


def _reads(scop: Scop, array: str) -> Iterator[tuple[Statement, Access]]:
    for statement in scop.statements:
        for access in statement.reads:
            if access.array == array and not access.is_lookup:
                yield statement, access


def _are_together(one: Statement, other: Statement) -> bool:
    return (one.loops, one.conditions) == (other.loops, other.conditions)


def _is_same(access: Access, other: Access) -> bool:
    return (access.array, access.subscripts) == (other.array, other.subscripts)


def _is_sure(statement: Statement, access: Access) -> bool:
    """Tell whether a statement reads an element whatever the data is."""
    return any(_is_same(read, access) and not read.is_partial for read in statement.reads)


def _with_word(scop: Scop, array: Array, readers: Sequence[str], access: Access) -> Scop:
    """Return the program with a statement that reads an element for some others."""
    taken = {*scop.variables, *(s.name for s in scop.statements)}
    name = numbered_name(f"{array.name}_word", taken)
    word = Array(name, array.element, (), "local", "local", array.span)
    first = scop.statement(readers[0])
    taking = Statement(
        name,
        first.loops,
        first.conditions,
        Access(name, (), access.span),
        (replace(access, is_conditional=False, where=()),),
        Read(0, array.element),
        access.span,
        f"{name} = {access}",
        first.origin,
    )
    statements: list[Statement] = []
    for statement in scop.statements:
        if statement.name == first.name:
            statements.append(taking)
        if statement.name in readers:
            reads = tuple(
                Access(name, (), read.span) if _is_same(read, access) else read
                for read in statement.reads
            )
            statement = replace(statement, reads=reads)
        statements.append(statement)
    return replace(
        scop,
        arrays=(*scop.arrays, word),
        statements=tuple(statements),
        tree=_with_statement(scop.tree, name, first.name),
    )


def _with_statement(nodes: tuple[Node, ...], name: str, before: str) -> tuple[Node, ...]:
    """Return nodes with a statement before another one."""
    found: list[Node] = []
    for node in nodes:
        if not isinstance(node, StatementNode):
            found.append(replace(node, body=_with_statement(node.body, name, before)))
            continue
        if node.statement == before:
            found.append(StatementNode(name))
        found.append(node)
    return tuple(found)
