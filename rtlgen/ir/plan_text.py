"""A plan as text: as JSON, exactly, and printed for a person.

Where a field may hold one of several classes, the object also says which, under `is`.

Print a KernelPlan or a Scop for a person: compact, deterministic, made to be compared.

A stream prints as its loops, then an operation a line in the order of the plan:

    stream S0 at +0, II 1, depth 7: for i<4, j<4  -- b[i] += A[i][j] * alpha
      %0 = load.i32 A[4*i + j] port 0 @0..2
      %5 = forward.i32 %4; store S0 -0 if j >= 1 @5
      %6 = add.i32 %5, %3 @5..6
      store b[i] = %6 @6

`@5..6` takes operands in stage 5 and has its result in stage 6; `store S0 -2` is the value that S0
presented to its store two cycles ago. Level names stand for 0-based counters, whatever the C loop
starts at, and addresses are row-major.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtlgen.ir.affine import Congruence
from rtlgen.ir.expr import to_text
from rtlgen.ir.operations import UnitOp
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    ArithmeticOp,
    CastOp,
    ChooseOp,
    Condition,
    ConstantOp,
    FloatingOp,
    ForwardOp,
    InBank,
    IndexForm,
    IndexOp,
    KernelPlan,
    Level,
    LevelBound,
    LoadOp,
    Memory,
    MemorySide,
    Operation,
    ParameterOp,
    PlanError,
    Predicate,
    Region,
    SelectOp,
    Stream,
    TiledRegion,
    Wait,
)
from rtlgen.ir.schedule import bounds_text
from rtlgen.ir.scop import Array, Scop, Statement
from rtlgen.ir.types import FloatType, NumberType
from rtlgen.system.typed_json import MismatchError, TypedJson

SCHEMA = "rtlgen-kernel-plan"
VERSION = 9
_FORM = TypedJson(tag="is")


def plan_to_json(plan: KernelPlan) -> dict[str, Any]:
    """Return the plan as a JSON-serialisable object."""
    return {"schema": SCHEMA, "version": VERSION, "plan": _FORM.encode(plan, KernelPlan)}


def plan_from_json(document: object) -> KernelPlan:
    """Return the plan that `plan_to_json` wrote.

    Raises
    ------
    PlanError: it is not such a document; the message names the place.
    """
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise PlanError(f"this is no kernel plan: its schema is not {SCHEMA!r}")
    if document.get("version") != VERSION:
        raise PlanError(f"version {document.get('version')!r} of the plan is not {VERSION}")
    try:
        plan = _FORM.decode(document.get("plan"), KernelPlan, "plan")
    except MismatchError as error:
        raise PlanError(str(error)) from error
    assert isinstance(plan, KernelPlan)
    return plan


def plan_text(plan: KernelPlan) -> str:
    """Return the plan as text, without a final newline."""
    lines = [
        f"kernel {plan.name} from {plan.source_file}",
        f"  index {plan.index_style}, latency {plan.index_latency_cycles}",
        f"  fused iterations {plan.fused_iterations}, floor {plan.floor_iterations}",
    ]
    lines += [
        f"  scalar {scalar.name}: {_type(scalar.width_bits, scalar.signed)}"
        + (f", {scalar.limits[0]} to {scalar.limits[1]}" if scalar.limits else "")
        for scalar in plan.scalars
    ]
    lines += [f"  {_memory(memory)}" for memory in plan.memories]
    if plan.returned is not None:
        lines.append(f"  returns {plan.returned}")
    if plan.checksum is not None:
        lines.append(f"  checksum over {', '.join(plan.checksum) or 'nothing'}")
    if plan.memory_side is not None:
        lines += _memory_side(plan.memory_side)
    for number, part in enumerate(plan.body):
        if isinstance(part, Region):
            lines += _region(f"region {number}", part, ())
            continue
        for worker, tiled in enumerate(part.regions):
            title = f"region {number}"
            if len(part.regions) > 1:
                title += f", worker {worker} of {len(part.regions)}"
            lines += _region(title, tiled.kernel, _tiles(tiled))
    return "\n".join(lines)


def _region(title: str, region: Region, tiles: Sequence[str]) -> list[str]:
    lines = [f"{title}, {region.length_cycles} cycles", *(f"  {line}" for line in tiles)]
    for stream in region.streams:
        lines += [f"  {line}" for line in stream_lines(region, stream)]
    return lines


def _memory_side(side: MemorySide) -> list[str]:
    lines = [f"  off chip, {side.bus}: words of {side.word_bits} bits"]
    for array in side.arrays:
        shape = "".join(f"[{extent}]" for extent in array.c_shape)
        kind = _type(array.width_bits, array.signed)
        lines.append(f"  array {array.name}{shape}: {kind} {array.role} at word {array.base_words}")
    return lines


def _tiles(tiled: TiledRegion) -> list[str]:
    lines = [
        f"{tiled.tiles} tiles, one every {tiled.issue_cycles} cycles at most: "
        f"for {_nest(tiled.levels)}"
    ]
    lines += [f"a kernel waits: {_wait(wait, tiled.levels)}" for wait in tiled.waits]
    for transfer in tiled.transfers:
        names = level_names(transfer.levels)
        waits = "".join(f", {_wait(wait, tiled.levels)}" for wait in transfer.after)
        lines.append(
            f"{transfer.direction} {transfer.window}[{address_text(transfer.at, names)}] of "
            f"{transfer.array} at word {form_text(transfer.word, names)}"
            f"{_where(transfer.when, names)}: for {_nest(transfer.levels)}{waits}"
            f"{f', {transfer.abreast} words abreast' if transfer.abreast > 1 else ''}"
        )
        lines += [
            f"  element {lane}{_where(strobe, names)}"
            for lane, strobe in enumerate(transfer.strobes)
            if not strobe.is_true
        ]
    return lines


def _wait(wait: Wait, levels: tuple[Level, ...]) -> str:
    what = "tiles" if wait.loops == len(levels) else f"iterations of {wait.loops} tile loops"
    names = level_names(levels)
    taken, given = (_where(when, names) for when in (wait.taken, wait.given))
    return f"{wait.distance} {what}{taken} after {wait.window}{given}"


def _nest(levels: tuple[Level, ...]) -> str:
    names = level_names(levels)
    shown = (_level_text(name, level, names) for name, level in zip(names, levels, strict=True))
    return ", ".join(shown) or "one iteration"


def stream_lines(region: Region, stream: Stream) -> list[str]:
    """Return the lines of one stream; `region` names the streams that its taps refer to."""
    names = level_names(stream.levels)
    head = (
        f"stream {stream.statement} at +{stream.offset_cycles}, II {stream.ii}, "
        f"depth {stream.depth_cycles}: for {_nest(stream.levels)}"
    )
    lines = [f"{head}  -- {stream.text}" if stream.text else head]
    lines.append(f"  -- {stream.instances} of {region.issued(stream)} iterations are instances")
    if stream.ii > 1:
        lines.append(f"  -- II {stream.ii}: {stream.ii_reason}")
    for number, op in enumerate(stream.operations):
        body = _operation(op, names, region)
        lines.append(f"  %{number} = {body} {_stages(op)}")
    for store in stream.stores:
        address = f"%{store.at}" if store.address is None else address_text(store.address, names)
        lines.append(
            f"  store {store.memory}[{address}] = %{store.value}"
            f"{f' port {store.port}' if store.port else ''}{_where(store.when, names)}"
            f"{'' if store.enable is None else f' if %{store.enable}'} @{store.stage}"
        )
    return lines


def level_names(levels: tuple[Level, ...]) -> tuple[str, ...]:
    """Return a distinct name for each level: its iterator, or `padN` for a pad loop."""
    names: list[str] = []
    for number, level in enumerate(levels):
        name = level.name or f"pad{number}"
        names.append(name if name not in names else f"{name}_{number}")
    return tuple(names)


def _level_text(name: str, level: Level, names: tuple[str, ...]) -> str:
    if level.is_box:
        return f"{name}<{level.extent}"
    low = bounds_text("max", (_bound_text(bound, names) for bound in level.lowers))
    high = bounds_text("min", (_bound_text(bound, names) for bound in level.uppers))
    more = f" at least {level.at_least}" if level.at_least else ""
    return f"{name}={low or 0}..{high or level.extent - 1}{more}"


def _bound_text(bound: LevelBound, names: tuple[str, ...]) -> str:
    text = form_text(bound.form, names)
    if bound.divisor == 1:
        return text
    return f"{f'({text})' if ' ' in text else text}/{bound.divisor}"


def form_text(form: IndexForm, names: tuple[str, ...]) -> str:
    """Return an index form over the level names, largest coefficient first: `4*i - j + 2`."""
    terms = [(c, name) for c, name in zip(form.coefficients, names, strict=True) if c]
    terms.sort(key=lambda term: -term[0])
    text = ""
    for c, name in terms:
        factor = name if abs(c) == 1 else f"{abs(c)}*{name}"
        text += f"{' - ' if c < 0 else ' + '}{factor}" if text else f"{'-' * (c < 0)}{factor}"
    if not text:
        return str(form.constant)
    if form.constant:
        text += f" {'-' if form.constant < 0 else '+'} {abs(form.constant)}"
    return text


def address_text(address: Address, names: tuple[str, ...]) -> str:
    """Return an address: `4*i + j`; in a bank, `bank 2: i`; in several, the place, `any bank: j`.

    Of a folded one these are the fields, the highest first: `tile:1, i:3, j:4`.
    """
    if isinstance(address, IndexForm):
        return form_text(address, names)
    if isinstance(address, InBank):
        return f"bank {address.bank}: {form_text(address.row, names)}"
    if isinstance(address, AnyBank):
        which = f"bank {address.banks[0]}" if len(address.banks) == 1 else "any bank"
        return f"{which}: {address_text(address.place, names)}"
    fields = [f"{form_text(f.form, names)}:{f.width_bits}" for f in reversed(address.fields)]
    return ", ".join([f"tile:{address.tile_bits}"] * bool(address.tile_bits) + fields)


def condition_text(condition: Condition, names: tuple[str, ...]) -> str:
    """Return a condition with its constant on the right: `k >= 1`, `i + j == 3`, `j <= 4`."""
    form = condition.form
    # -x + c >= 0 reads better as x <= c.
    sign = -1 if sum(form.coefficients) < 0 else 1
    relation = "==" if condition.equal else ">=" if sign > 0 else "<="
    left = (form - form.constant) * sign
    return f"{form_text(left, names)} {relation} {-sign * form.constant}"


def predicate_text(predicate: Predicate, names: tuple[str, ...]) -> str:
    """Return a predicate: `always`, `never`, or conditions joined by `and` and `or`."""
    if predicate.is_true:
        return "always"
    if predicate.is_false:
        return "never"
    parts = [
        " and ".join(condition_text(condition, names) for condition in conjunction)
        for conjunction in predicate.alternatives
    ]
    if len(parts) == 1:
        return parts[0]
    return " or ".join(f"({part})" if " and " in part else part for part in parts)


def scop_text(scop: Scop) -> str:
    """Return arrays, statements with domains and accesses, and the schedule, as text."""
    lines = [f"scop {scop.name} from {scop.source.path}"]
    lines += [f"  scalar {scalar.name}: {_c_type(scalar.type)}" for scalar in scop.scalars]
    lines += [f"  {_array(array)}" for array in scop.arrays]
    if scop.returned is not None:
        lines.append(f"  returns {scop.returned}")
    for statement in scop.statements:
        lines += _statement(statement)
    if scop.schedule.dims:
        lines.append("schedule")
    lines += [
        f"  {name}: ({', '.join(map(str, dims))})" for name, dims in scop.schedule.dims.items()
    ]
    return "\n".join(lines)


def _type(width_bits: int, signed: bool) -> str:
    return f"{'i' if signed else 'u'}{width_bits}"


def _c_type(type_: NumberType) -> str:
    if isinstance(type_, FloatType):
        return str(type_)
    return _type(type_.width_bits, type_.signed)


def _memory(memory: Memory) -> str:
    shape = "".join(f"[{extent}]" for extent in memory.shape)
    ports = f"{memory.read_ports} read {'port' if memory.read_ports == 1 else 'ports'}"
    banks = f", {memory.bank_map.banks} banks" if memory.cuts else ""
    banks += f", {memory.write_ports} write ports" if memory.write_ports > 1 else ""
    banks += f", {memory.style}" if memory.style != "block" else ""
    if memory.part is not None:
        box = zip(memory.part.low, memory.part.extents, strict=True)
        banks += f", of {memory.part.array}{''.join(f'[{n}..{n + e - 1}]' for n, e in box)}"
    return (
        f"memory {memory.name}{shape}: {_type(memory.width_bits, memory.signed)} {memory.role} "
        f"{memory.storage}, {memory.kind}, {ports} of latency {memory.read_latency_cycles}{banks}"
        f"{'' if memory.collision_free else ', may collide'}{', twice' if memory.is_double else ''}"
        f"{', outside' if memory.is_external else ''}"
    )


def _stages(op: Operation) -> str:
    return f"@{op.stage}..{op.result_stage}" if op.latency_cycles else f"@{op.stage}"


def _where(predicate: Predicate, names: tuple[str, ...]) -> str:
    return "" if predicate.is_true else f" if {predicate_text(predicate, names)}"


def _operation(op: Operation, names: tuple[str, ...], region: Region) -> str:
    type_ = _type(op.width_bits, op.signed)
    operands = ", ".join(f"%{operand}" for operand in op.operands)
    match op:
        case ConstantOp(value=value):
            return f"const.{type_} {value}"
        case ParameterOp(name=name):
            return f"scalar.{type_} {name}"
        case IndexOp(form=form):
            return f"index.{type_} {form_text(form, names)}"
        case LoadOp():
            address = operands if op.address is None else address_text(op.address, names)
            needed = _where(op.needed, names)
            versions = "".join(
                f", version {n}{_where(where, names)}"
                for n, where in enumerate(op.versions, start=1)
                if not where.is_false
            )
            return f"load.{type_} {op.memory}[{address}] port {op.port}{needed}{versions}"
        case ForwardOp(taps=taps):
            parts = [
                f"{'store' if tap.read is None else f'read {tap.read} of'} "
                f"{region.streams[tap.stream].statement} -{tap.delay_cycles}"
                f"{_where(tap.when, names)}{' if it is there' if tap.is_matched else ''}"
                for tap in taps
            ]
            return f"forward.{type_} {'; '.join([operands, *parts])}"
        case ChooseOp(when=when):
            return f"choose.{type_} {operands}{_where(when, names)}"
        case ArithmeticOp(op=name, modulus_bits=modulus):
            with_modulus = f" modulo {modulus}" if modulus else ""
            return f"{name}.{type_} {operands}{with_modulus}{_begins(op, names)}"
        case FloatingOp(op=name, of=of, to=to):
            return f"{name}.{of}.{to} {operands}{_begins(op, names)}"
        case CastOp():
            return f"cast.{type_} {operands}"
        case SelectOp():
            return f"select.{type_} {operands}"


def _begins(op: UnitOp, names: tuple[str, ...]) -> str:
    """Return in which unit an operation begins, how often, and where; "" if always in its own."""
    unit = "" if op.unit is None else f" in unit {op.unit}"
    apart = f" every {op.interval_cycles} cycles" if op.interval_cycles > 1 else ""
    return f"{unit}{apart}{_where(op.when, names) if op.is_announced else ''}"


def _array(array: Array) -> str:
    shape = "".join(f"[{extent}]" for extent in array.shape)
    return f"array {array.name}{shape}: {_c_type(array.element)} {array.role} {array.storage}"


def _statement(statement: Statement) -> list[str]:
    lines = [f"statement {statement.name} at {statement.span}"]
    if statement.text:
        lines.append(f"  text   {statement.text}")
    for loop in statement.loops:
        before = "<" if loop.step > 0 else ">"
        scaled = loop.iterator if loop.scale == 1 else f"{loop.scale}*{loop.iterator}"
        lines.append(
            f"  for    {loop.iterator} = {loop.start}; {scaled} {before} {loop.stop}; "
            f"{loop.iterator} += {loop.step}"
        )
    for condition in statement.conditions:
        relation = "" if isinstance(condition, Congruence) else " >= 0"
        lines.append(f"  where  {condition}{relation}")
    lines += [f"  read   {access}" for access in statement.reads]
    reads = tuple(map(str, statement.reads))
    lines.append(f"  write  {statement.write} = {to_text(statement.expr, reads)}")
    return lines
