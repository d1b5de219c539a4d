"""Plan a program in many ways, from those on the front on, and measure the circuits on it.

What can be chosen of a design are lines of options, each of which goes on from the one before. An
axis on which the user has chosen is not searched. On the front is what nothing else is at least as
good as in every figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.flow.synth import DEFAULT_CLOCK_MHZ, SynthesisTarget, known_synthesis
from rtlgen.frontend.program import ParsedProgram
from rtlgen.ir.block_rams import block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.operation_costs import blocks_on
from rtlgen.ir.scop import Scop
from rtlgen.manifest.file import sha256_of
from rtlgen.options import INDEX_STYLES, POLICIES, CompileOptions
from rtlgen.output.verilog import GeneratedVerilog, generate, verilog_file
from rtlgen.planning.compilation import Compilation

Item = TypeVar("Item")
Figures = tuple[float, ...]


def front(items: Sequence[Item], figures: Callable[[Item], Figures]) -> list[Item]:
    """Return the items that no other one dominates, in their order; of equal ones the first.

    Parameters
    ----------
    figures: of an item, the smaller the better, as many for each.
    """
    known = [(item, figures(item)) for item in items]
    kept: list[Item] = []
    for place, (item, own) in enumerate(known):
        if not any(
            _dominates(other, own) or (other == own and number < place)
            for number, (_, other) in enumerate(known)
        ):
            kept.append(item)
    return kept


def _dominates(one: Figures, other: Figures) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


Line = list[CompileOptions]
"""Options to be tried one after the other, as long as each gains on the one before."""

MOST_LANES = 64
MOST_WORKERS = 16
TILE_SIZES = (8, 16, 32)


def lines(
    asked: CompileOptions, options: CompileOptions, program: Scop, in_tiles: bool
) -> Iterator[Line]:
    """Yield what may be tried beside a design: lanes, threads and their strategies, and tiles.

    Parameters
    ----------
    asked: the user's options. options: the design's. in_tiles: whether it has arrays off chip.
    """
    if asked.max_dsp is None and not asked.pipeline:
        # In tiles, one loop runs in lanes.
        chosen = tuple(options.unroll) if in_tiles else ()
        for loop in chosen or _loops(program):
            if loop not in asked.unroll:
                yield list(_more_lanes(options, loop))
    if not in_tiles:
        return
    if asked.threads == 1:
        for strategy in POLICIES if options.threads == 1 else (options.strategy,):
            yield [
                replace(options, threads=threads, strategy=strategy)
                for threads in _doubled(options.threads, MOST_WORKERS)
            ]
    if not asked.tile and not options.tile and asked.buffer:
        depth = max(len(statement.loops) for statement in program.statements)
        yield from ([replace(options, tile=(size,) * depth)] for size in TILE_SIZES)


def index_styles(asked: CompileOptions) -> tuple[CompileOptions, ...]:
    """Return the same with every way to recover indices; the cycles are the same in all."""
    if asked.index_style != CompileOptions().index_style:
        return (asked,)
    return tuple(replace(asked, index_style=style) for style in INDEX_STYLES)


def options_text(asked: CompileOptions, options: CompileOptions) -> str:
    """Return what the command line has to say beside what was asked for."""
    words = [
        f"--unroll {loop}={lanes}"
        for loop, lanes in options.unroll.items()
        if asked.unroll.get(loop) != lanes
    ]
    if options.threads != asked.threads:
        words.append(f"--threads {options.threads}")
        if options.strategy != CompileOptions().strategy:
            words.append(f"--strategy {options.strategy}")
    if options.tile != asked.tile:
        words.append(f"--tile {','.join(map(str, options.tile))}")
    if options.index_style != asked.index_style:
        words.append(f"--index {options.index_style}")
    return " ".join(words)


def _loops(program: Scop) -> tuple[str, ...]:
    """Return the loops of the program, by label or variable, the innermost ones first."""
    loops = [loop for statement in program.statements for loop in reversed(statement.loops)]
    return tuple(dict.fromkeys(loop.label or loop.iterator for loop in loops))


def _more_lanes(options: CompileOptions, loop: str) -> Iterator[CompileOptions]:
    for lanes in _doubled(options.unroll.get(loop) or 1, MOST_LANES):
        yield replace(options, unroll={**options.unroll, loop: lanes})


def _doubled(begin: int, most: int) -> Iterator[int]:
    value = 2 * begin
    while value <= most:
        yield value
        value *= 2


PLACED_SEEDS = (1,)
"""One is enough to compare circuits."""

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Area:
    """What yosys and nextpnr measured of a circuit; `fmax_mhz` None without place and route."""

    lut: int
    ff: int
    dsp: int
    block_rams: int
    fmax_mhz: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """A design of the program.

    Members
    -------
    options: all of them. text: those beside what was asked for, as the command line takes them.
    cycles: predicted. dsp, block_rams: by the plan. fits: whether the target's device has so many.
    in_tiles: whether arrays are off chip. area: by measurement; None: not measured.
    """

    options: CompileOptions
    text: str
    cycles: int
    dsp: int
    block_rams: int
    in_tiles: bool
    fits: bool
    area: Area | None = None

    @property
    def microseconds(self) -> float | None:
        """How long a run takes at the clock that was reached."""
        if self.area is None or self.area.fmax_mhz is None:
            return None
        return self.cycles / self.area.fmax_mhz

    @property
    def planned(self) -> Figures:
        return self.cycles, self.dsp, self.block_rams

    @property
    def measured(self) -> Figures:
        assert self.area is not None
        area = self.area
        time = self.microseconds
        return (
            self.cycles if time is None else time,
            area.lut,
            area.ff,
            area.dsp,
            area.block_rams,
        )


@dataclass(slots=True)
class Exploration:
    """What was found.

    Members
    -------
    name: of the kernel. points: all designs that were planned, in order; those on the front of
        cycles, multipliers and block RAM are measured if any are. refused: how many were, by code.
    limits: sentences about limits that ended the search.
    """

    name: str
    points: list[Point] = field(default_factory=list)
    measured: list[Point] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    limits: list[str] = field(default_factory=list)

    @property
    def front(self) -> list[Point]:
        """The designs worth a choice, the fastest first."""
        if self.measured:
            return sorted(front(self.measured, lambda p: p.measured), key=lambda p: p.measured)
        return self.planned_front

    @property
    def planned_front(self) -> list[Point]:
        """Those worth a circuit, by the figures of their plans: of what fits, if anything does."""
        fitting = [point for point in self.points if point.fits]
        found = front(fitting or self.points, lambda p: p.planned)
        return sorted(found, key=lambda p: p.planned)


class Explorer:
    """Search the designs of one program.

    Parameters
    ----------
    asked: the user's options, of which no other ones are tried. most_plans: designs to plan.
    notice: is told what is being done.
    """

    def __init__(
        self, program: ParsedProgram, asked: CompileOptions, most_plans: int, notice: Notice
    ) -> None:
        self.program = program
        self.asked = asked
        self.most_plans = most_plans
        self.notice = notice
        self._tried_before: set[str] = {""}

    def explored(self) -> Exploration:
        """Plan what was asked for, and then what may be better than what is on the front.

        Raises
        ------
        RtlgenError: what was asked for is refused.
        """
        self.notice("as asked")
        compilation = compile_program(self.program, self.asked)
        found = Exploration(compilation.plan.name)
        first = self._point(compilation, self.asked)
        found.points.append(first)
        waiting = [first]
        while waiting:
            point = waiting.pop(0)
            if not point.fits or point not in found.planned_front:
                continue
            for line in lines(self.asked, point.options, self.program.scop, point.in_tiles):
                before = point
                for options in line:
                    if len(self._tried_before) >= self.most_plans:
                        found.limits.append(
                            f"{self.most_plans} designs were planned, and no more: --plans"
                        )
                        return found
                    tried = self._tried(found, options)
                    if tried is None or tried.cycles >= before.cycles:
                        break
                    waiting.append(tried)
                    before = tried
        return found

    def _tried(self, found: Exploration, options: CompileOptions) -> Point | None:
        """Return a design; None where it is refused, or was tried before."""
        text = options_text(self.asked, options)
        if text in self._tried_before:
            return None
        self._tried_before.add(text)
        self.notice(text)
        try:
            compilation = compile_program(self.program, options)
        except RtlgenError as error:
            found.refused[error.code] += 1
            return None
        point = self._point(compilation, options)
        found.points.append(point)
        return point

    def _point(self, compilation: Compilation, options: CompileOptions) -> Point:
        plan, target = compilation.plan, compilation.target
        dsp, rams = blocks_on(plan, target), block_rams(plan, target)
        return Point(
            options,
            options_text(self.asked, options),
            predicted_cycles(plan),
            dsp,
            rams,
            in_tiles=bool(plan.tiled_regions),
            fits=dsp <= target.device_multipliers and rams <= target.device_block_rams,
        )

    def measure(
        self, found: Exploration, target: SynthesisTarget, most_circuits: int, fresh: bool
    ) -> None:
        """Synthesise the designs on the front, then with indices recovered in other ways."""
        planned = found.planned_front
        styles = [index_styles(point.options) for point in planned]
        wanted = [
            (point, options)
            for turn in range(max(map(len, styles)))
            for point, line in zip(planned, styles, strict=True)
            for options in line[turn : turn + 1]
        ]
        if len(wanted) > most_circuits:
            found.limits.append(
                f"{most_circuits} of {len(wanted)} circuits were measured: --circuits"
            )
        for point, options in wanted[:most_circuits]:
            text = options_text(self.asked, options)
            self.notice(f"synthesising {text}")
            try:
                plan = compile_program(self.program, options).plan
                area = measured_area(generate(plan, options.top), target, fresh)
            except RtlgenError as error:
                found.refused[error.code] += 1
                continue
            cycles = predicted_cycles(plan)
            found.measured.append(
                replace(point, options=options, text=text, cycles=cycles, area=area)
            )


def measured_area(verilog: GeneratedVerilog, target: SynthesisTarget, fresh: bool) -> Area:
    """Return what a circuit takes on a family of FPGAs, and how fast it is.

    Raises
    ------
    MissingToolError, ToolFailedError, UnreadableResultError
    """
    with verilog_file(verilog) as path:
        report = known_synthesis(
            path,
            sha256_of(verilog.text),
            verilog.top,
            target,
            clock_mhz=DEFAULT_CLOCK_MHZ,
            seeds=PLACED_SEEDS,
            fresh=fresh,
        ).report
    return Area(report["lut"], report["ff"], report["dsp"], report["block_ram"], report["fmax_mhz"])
