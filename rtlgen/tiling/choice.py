"""The choice of tiles for one unit: its loops, the sizes of tiles, and the order in which they run.

What tiles of given sizes move does not depend on their order, and is known before a kernel is
planned: so is how many cycles they take at least. Those that take the fewest are planned first, and
no others than those that could be better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from operator import itemgetter

from rtlgen.errors import RtlgenError
from rtlgen.ir.effort import improving, keep_going, spare_effort
from rtlgen.ir.memory_side import Bus
from rtlgen.scheduling.errors import NoLanes, WindowsTooLarge
from rtlgen.tiling.cut import UNLIMITED, Chip
from rtlgen.tiling.form import FOLLOWED_TILES, Candidate, Comparison, Form, busy_cycles
from rtlgen.tiling.lanes import LaneRequest, lanes_do_not_fit
from rtlgen.tiling.loops import UnitLoops, in_wavefronts
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.variations import CopySearch, Strips, StripSearch, inner_strips, kinds_of_strips
from rtlgen.transforms.tile_nests import Tiling
from rtlgen.windows.tile_kernel import MOST_OVERLAPPING
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest

MOST_PLANS = 12
"""Plans of a unit in certain loops after which the best one is good enough."""

MOST_WITH_COPIES = 3
"""Plans of a unit for which copies of windows are looked for, those that take least otherwise."""

WAITING = 1.25
"""Cycles for an iteration of a tile above which iterations wait for each other, not tiles."""

BETWEEN_POWERS = (Fraction(3, 4), Fraction(3, 2))
"""By how much sides are shorter or longer that are no powers of two."""

MOST_ROUNDS = 2
"""How often sizes are looked for beside those that were found like that."""

GAIN = 0.99
"""Share of the cycles found below which other tiles are worth a plan."""


@dataclass(frozen=True, slots=True)
class TileRequest:
    """What the user asks of a program whose arrays are off chip.

    Members
    -------
    bus, word_bits: to the memory off chip. on_chip: arrays that stay on chip.
    sizes: iterations of a tile, a number a loop; () for the compiler's choice.
    budget_bits: RAM on chip that windows and kept memories may take together.
    buffer: whether words are kept on chip from tile to tile; else a tile without `sizes` is one
        iteration, so that every access goes to the memory off chip.
    workers: among which tiles are shared. lanes: what is to run side by side; None: nothing.
    or_on_chip: whether nobody has asked for tiles, so that what RAM they lack need not be known.
    """

    bus: Bus
    word_bits: int
    on_chip: frozenset[str]
    sizes: tuple[int, ...]
    budget_bits: int
    buffer: bool = True
    workers: WorkerRequest = ONE_WORKER
    lanes: LaneRequest | None = None
    or_on_chip: bool = False


class TileChoice:
    """Choose tiles for one unit, or for several that are cut together.

    Parameters
    ----------
    loops: those that may be cut. sizes: asked for, or () for the compiler's choice.
    fewest: cycles that are known to do without these tiles.
    """

    def __init__(
        self,
        loops: Iterable[UnitLoops],
        chip: Chip,
        sizes: tuple[int, ...],
        taken: Sequence[str],
        fewest: int | None = None,
    ) -> None:
        self.chip = chip
        self.sizes = sizes
        self.taken = taken
        # Few orders are tried of what is asked for: each is followed, however many tiles it has.
        followed = UNLIMITED if self._is_fixed else FOLLOWED_TILES
        self.comparison = Comparison(chip.bus, chip.budget_bits, fewest, followed)
        self.forms = [Form(each, chip, taken, self.comparison) for each in loops]

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The tiles that were planned."""
        return tuple(candidate for form in self.forms for candidate in form.candidates)

    def best(self) -> TiledPart:
        """Return the unit in the tiles with the fewest cycles that fit, or hardly more.

        Raises
        ------
        IllegalSchedule, RaggedDomain, WindowsTooLarge: what stood in the way of the first tiles.
        """
        found = self._fastest()
        return self._form_of(found).settled(found)

    def _fastest(self) -> TiledPart:
        """Return the unit in the tiles with the fewest cycles that fit; see `best`."""
        found: TiledPart | None = None
        forms = self._in_lanes
        deepest = max(form.loops.depth for form in forms)
        # What is found in the best loops tells which tiles of the others need no plan.
        for form in forms if self._is_fixed else sorted(forms, key=lambda f: f.least_of_cubes):
            if form.loops.depth < min(deepest, len(self.sizes)):
                continue
            found = self._better([found, *self._planned(form, found)])
        if found is None:
            raise self._refused()
        if self._waits(found):
            found = self._better([found, *self._in_wavefronts(found)]) or found
        if self.chip.buffer and any(found.scopes.values()):
            before = self._form_of(found)
            planned = [part.tiling.sizes for form in self.forms for part in form.parts]
            smallest = min((s for s in planned if len(s) == found.tiling.depth), key=prod)
            both = tuple(dict.fromkeys([found.tiling.sizes, smallest]))
            if found.tiling.woven is None:
                found = self._in_strips(before, both, found)
            found = self._with_other_copies(self._overlapping(self._matching_loops(found)))
            with improving("tiles with more RAM"), spare_effort():
                self._note_roomier(before, both)
            return found
        return self._with_other_copies(self._overlapping(self._matching_loops(found)))

    @property
    def _in_lanes(self) -> list[Form]:
        """The loops that can run in the lanes that are asked for; all where none can."""
        return [form for form in self.forms if form.cuts.has_lanes] or self.forms

    def _planned(self, form: Form, found: TiledPart | None) -> list[TiledPart]:
        """Plan a unit in certain loops: in the tiles asked for, or in what is better."""
        return self._asked_for(form) if self._is_fixed else self._searched(form, found)

    def _waits(self, found: TiledPart) -> bool:
        """Tell whether iterations of a tile wait for each other, and the kernel takes the time."""
        least = self.comparison.of(found)
        iterations = self._form_of(found).cuts.known(found.tiling).tile_iterations
        is_slow = found.region.issue_cycles > WAITING * iterations
        return iterations > 1 and is_slow and least.kernel_cycles > least.bus_cycles

    def _form_of(self, found: TiledPart) -> Form:
        """Return the loops in which a plan was found."""
        return next(form for form in self.forms if form.has(found))

    def _in_wavefronts(self, found: TiledPart) -> list[TiledPart]:
        """Plan a unit in loops in which the iterations of a tile need not wait for each other."""
        loops = in_wavefronts(self.forms[0].loops)
        if loops is None or loops.depth < len(self.sizes):
            return []
        form = Form(loops, self.chip, self.taken, self.comparison)
        self.forms.append(form)
        return self._planned(form, found)

    def _matching_loops(self, found: TiledPart) -> TiledPart:
        """Return tiles that end where loops end, with sides that need not be powers of two.

        They are what one worker's kernel takes the fewest cycles for, where it rules.
        """
        best = found
        if self.chip.workers.count > 1 or found.tiling.spread:
            return best
        with improving("tiles that end where loops do"), spare_effort():
            known = {found.tiling.sizes}
            best = self._ending_with_loops(found, known)
            in_strips = found.tiling.woven is not None
            for _ in range(0 if self._is_fixed or in_strips else MOST_ROUNDS):
                sizes = self._between_powers(best) - known
                known |= sizes
                best = self._ending_with_loops(best, sizes)
        return best

    def _between_powers(self, best: TiledPart) -> set[tuple[int, ...]]:
        """Return sizes between those for which the kernel takes the fewest cycles, and beside them.

        Of those, it depends on much else which are done soonest: how many copies of windows fit.
        """
        form = self._form_of(best)
        fewest = min(part.kernel_cycles for part in form.parts)
        planned = {p.tiling.sizes for p in form.parts if p.kernel_cycles == fewest}
        beside = [sides for sizes in planned for sides in _neighbours(sizes, form.cuts.lengths)]
        between = [
            sides
            for sizes in {*planned, best.tiling.sizes}
            for sides in _lengthened(sizes, form.cuts.lengths, BETWEEN_POWERS)
        ]
        return {form.cuts.fitting(sides) for sides in (*beside, *between)}

    def _ending_with_loops(self, best: TiledPart, sizes: Collection[tuple[int, ...]]) -> TiledPart:
        """Return the best tiles, of these sizes in the same order too, that end where loops end."""
        least = self.comparison.of(best)
        is_shortest = GAIN * best.kernel_cycles <= self._least_issuing(best)
        if is_shortest or least.kernel_cycles < least.bus_cycles:
            return best
        form, own = self._form_of(best), best.tiling
        tried = []
        for sides in sorted(sizes):
            keep_going()
            other = Tiling(sides, own.order)
            cut = form.cuts.known(own) if sides == own.sizes else form.cuts.in_order(other)
            if cut is not None:
                cut = form.cuts.ending_with_loops(cut)
                tried.append((cut.tiles * cut.tile_iterations, sides, cut))
        for cycles, sides, cut in sorted(tried, key=itemgetter(0, 1)):
            busy = 0 if sides == own.sizes else form.busy_cycles(sides)
            is_shorter = busy is not None and busy < self._cycles(best)
            if is_shorter and cycles < GAIN * best.kernel_cycles:
                best = self._better([best, form.plan(cut)]) or best
        return best

    def _overlapping(self, found: TiledPart) -> TiledPart:
        """Return the best tiles with as many in the kernel at a time as save cycles.

        What a tile keeps has a place of its own then while the next ones run, and windows have more
        copies. Of several workers, tiles that follow each other are not told.
        """
        if self.chip.workers.count > 1:
            return found
        best = found
        parts = self._fitting_parts

        def ending(part: TiledPart) -> int:
            return self._least_overlapping(part) + part.region.kernel.length_cycles

        parts.sort(key=lambda pair: ending(pair[1]))
        with improving("tiles that overlap"), spare_effort():
            for form, part in parts[:MOST_WITH_COPIES]:
                before = part.region.issue_cycles
                for tiles in range(1, MOST_OVERLAPPING):
                    keep_going()
                    fewest = self._cycles(best)
                    if self._least_overlapping(part) >= GAIN * fewest:
                        break
                    other = form.overlapping(part, tiles)
                    if other is None or other.region.issue_cycles >= GAIN * before:
                        break
                    before = other.region.issue_cycles
                    best = self._better([best, other, self._copied(form, other, fewest)]) or best
        return best

    @property
    def _fitting_parts(self) -> list[tuple[Form, TiledPart]]:
        """The plans that fit, with their loops."""
        budget = self.chip.budget_bits
        return [
            (form, part)
            for form in self.forms
            for part in form.parts
            if part.ram_bits <= budget and form.chip.budget_bits <= budget
        ]

    def _least_overlapping(self, part: TiledPart) -> int:
        """Return the cycles that a plan takes at least, however many of its tiles overlap."""
        least = max(part.least_kernel_cycles, busy_cycles(part, self.chip.bus))
        return max(least, self.bus_cycles)

    def _copied(self, form: Form, part: TiledPart, fewest: int) -> TiledPart | None:
        """Return a plan with as many copies of its windows as save cycles, if some do."""
        is_followed = part.region.tiles <= self.comparison.followed
        if not is_followed or self.comparison.least(part) >= GAIN * fewest:
            return None
        part = form.with_copies(part, {})
        copies = CopySearch(part, self.chip.bus, self.chip.budget_bits).best(fewest)
        return None if copies is None else form.with_copies(part, copies)

    def _with_other_copies(self, found: TiledPart) -> TiledPart:
        """Return the best tiles of lanes with as many copies of their windows as save cycles.

        Where the kernel waits, and the bus too, other tiles may do better with other copies.
        """
        if self.chip.lanes is None:
            return found
        parts = self._fitting_parts
        parts.sort(key=lambda pair: (self.comparison.least(pair[1]), self._cycles(pair[1])))
        best = found
        with improving("copies of windows"), spare_effort():
            for form, part in parts[:MOST_WITH_COPIES]:
                copied = self._copied(form, part, self._cycles(best))
                best = self._better([best, copied]) or best
        return best

    def _note_roomier(self, before: Form, both: Sequence[tuple[int, ...]]) -> None:
        """Note what tiles of some sizes would take with all RAM they could use, and with enough."""
        for sizes in both:
            enough: int | None = UNLIMITED
            for _ in range(2):
                if enough is not None:
                    chip = replace(self.chip, budget_bits=enough)
                    form = Form(before.loops, chip, (), self.comparison, before)
                    enough = form.with_room(sizes)
                    self.forms.append(form)

    def _in_strips(
        self, form: Form, both: Sequence[tuple[int, ...]], found: TiledPart
    ) -> TiledPart:
        """Return tiles of these sizes in strips, where they take fewer cycles than what was found.

        That may be where words are moved more than once, since the RAM does not hold what is
        read again in the whole array, and the bus takes the cycles.
        """
        if not self._is_worth_strips(form, found):
            return found
        best = found
        with improving("tiles in strips"), spare_effort():
            # In turn, so that no kind is left out where the effort ends the search.
            for sizes in both:
                for strips in kinds_of_strips(form, sizes):
                    best = self._better_in(form, strips, best, partly=sizes == both[0])
            if not self._is_fixed and best.tiling.woven == 1:
                for better in self._larger_in_strips(form, best):
                    best = better
        return best

    def _is_worth_strips(self, form: Form, part: TiledPart) -> bool:
        """Tell whether words are moved more than once, and the bus takes the cycles."""
        least = self.comparison.of(part)
        if self.chip.workers.count > 1 or least.bus_cycles <= least.kernel_cycles:
            return False
        return form.words_needed is None or part.words_moved > form.words_needed

    def _in_inner_strips(self, form: Form, best: TiledPart) -> Iterator[TiledPart]:
        """Yield tiles of lanes in strips along inner loops, each better than before.

        Lanes ask for more words than the bus has, so that strips save more than other sizes do, and
        where values stay on chip in their strip larger tiles may fit than in the whole array.
        """
        sizes = best.tiling.sizes
        if self.chip.lanes is None or not any(best.scopes.values()):
            return
        if self._is_worth_strips(form, best):
            for loop in range(2, len(sizes)):
                found = self._better_in(form, inner_strips(form, sizes, loop), best, partly=False)
                if found is not best:
                    best = found
                    yield best
            if best.tiling.woven == 1:
                yield from self._larger_in_strips(form, best)

    def _better_in(self, form: Form, strips: Strips, best: TiledPart, *, partly: bool) -> TiledPart:
        """Return a unit in strips of a kind, where they take fewer cycles than the best so far.

        Parameters
        ----------
        partly: whether strips will do of which the RAM keeps some values only.
        """
        found = StripSearch(form, strips, self._cycles(best)).best(partly=partly)
        return self._better([best, found]) or best

    def _larger_in_strips(self, form: Form, best: TiledPart) -> Iterator[TiledPart]:
        """Yield larger and larger tiles in strips along the same loop, each better than before.

        Tiles of powers of two leave a part of the RAM unused, since folds take these, too.
        """
        loop = best.tiling.order[1].index(1)
        known = {best.tiling.sizes}
        while True:
            for factors in ((2,), (Fraction(7, 4), Fraction(3, 2)), (Fraction(7, 8),)):
                found = best
                for sizes in _lengthened(best.tiling.sizes, form.cuts.lengths, factors):
                    sizes = form.cuts.fitting(sizes)
                    fewest = int(GAIN * self._cycles(found))
                    if sizes not in known and form.least_cycles(sizes) < fewest:
                        keep_going()
                        known.add(sizes)
                        strips = inner_strips(form, sizes, loop)
                        width = found.tiling.phases[1]
                        search = StripSearch(form, strips, fewest)
                        part = search.best(partly=False, like=width)
                        better = self._better([found, part]) or found
                        if better is not found:
                            found = better
                            yield found
                if found is not best:
                    break
            if found is best:
                return
            best = found

    @property
    def _is_fixed(self) -> bool:
        return bool(self.sizes) or not self.chip.buffer

    @property
    def bus_cycles(self) -> int:
        """The cycles for which the bus is busy at least, whatever the tiles are and whose."""
        return self.forms[0].bus_cycles_needed

    @property
    def longest(self) -> int:
        """The instances of the statement that has most."""
        return max(self.forms[0].loops.instances.values())

    def _least_issuing(self, part: TiledPart) -> int:
        """Return the cycles in which all instances issue at least, in as many lanes and workers."""
        return self.longest // (part.kernel.lanes * self.chip.workers.count)

    def _asked_for(self, form: Form) -> list[TiledPart]:
        sizes = (self.sizes or (1,) * form.loops.depth)[: form.loops.depth]
        try:
            fitting = form.cuts.fitting(sizes)
        except NoLanes as error:
            form.refused.add(error)
            return []
        if fitting != sizes and self.sizes:
            form.refused.add(lanes_do_not_fit(self.chip.lanes, sizes, fitting))
            return []
        return form.in_every_order(fitting)

    def _searched(self, form: Form, found: TiledPart | None) -> list[TiledPart]:
        """Plan cubes, then longer and shorter sides of the best one, and that in other orders."""
        best = found
        with improving("tiles of other sizes"), spare_effort():
            for wanted in form.beginnings():
                while True:
                    tried = self._improved(form, wanted, best)
                    best = tried or best
                    # Where the effort is used up, the search ends here, and says so.
                    keep_going()
                    for better in () if tried is None else self._in_inner_strips(form, tried):
                        best = tried = better
                    if (
                        tried is None
                        or tried.tiling.woven is not None
                        or len(form.parts) >= MOST_PLANS
                    ):
                        break
                    wanted = list(_neighbours(tried.tiling.sizes, form.cuts.lengths))
                    if self.chip.lanes is not None:
                        wanted += _flatter(tried.tiling, form.cuts.lengths)
                if best is not None:
                    break
        if best is None or best is found:
            return []
        if best.tiling.woven is not None:
            return [best]
        return form.in_kept_orders(best.tiling.sizes)

    def _improved(
        self, form: Form, wanted: Sequence[tuple[int, ...]], best: TiledPart | None
    ) -> TiledPart | None:
        """Return what is better than the best one in some of these sizes, if anything."""
        found: TiledPart | None = None
        if best is not None:
            floor = max(self.bus_cycles, self._least_issuing(best))
            if GAIN * self._cycles(best) <= floor:
                return None

        def could_be_better(cycles: int) -> bool:
            least = found or best
            return least is None or cycles < GAIN * self._cycles(least)

        # What takes long is asked only where what is known at once leaves a doubt.
        first = sorted((form.least_cycles(sizes), -prod(sizes), sizes) for sizes in wanted)
        fitting = []
        for cycles, _, sizes in first:
            if could_be_better(cycles):
                busy = form.busy_cycles(sizes)
                if busy is not None:
                    fitting.append((max(cycles, busy), -prod(sizes), sizes))
        if best is not None:
            fitting = [
                (max(cycles, self._least_with_ram(form, best, sizes)), volume, sizes)
                for cycles, volume, sizes in sorted(fitting)
                if could_be_better(cycles)
            ]
        elif self.chip.lanes is not None:
            # Lanes wait for words sooner than for each other: larger tiles move fewer.
            fitting = [(0, volume, sizes) for _, volume, sizes in fitting]
        for cycles, _, sizes in sorted(fitting):
            if not could_be_better(cycles) or (found and len(form.parts) >= MOST_PLANS):
                break
            if found is not None and not could_be_better(self._least_with_ram(form, found, sizes)):
                continue
            least = found or best
            better = self._better([least, form.planned(sizes)])
            found = better if better is not least else found
        return found

    def _least_with_ram(self, form: Form, best: TiledPart, sizes: tuple[int, ...]) -> int:
        """Return the cycles of the bus at least where the best tiles do not keep all values.

        Then it costs less than a plan to know what others move beside those that they keep.
        """
        many = self.chip.workers.count > 1 or self.chip.lanes is None
        if many or not any(best.scopes.values()):
            return 0
        return form.busy_with_ram(sizes)

    def _better(self, parts: Iterable[TiledPart | None]) -> TiledPart | None:
        """Return the one with the fewest cycles, then words and RAM, of those that fit."""
        fitting = [
            part for part in parts if part is not None and part.ram_bits <= self.chip.budget_bits
        ]
        return min(
            fitting,
            key=lambda part: (self._cycles(part), part.words_moved, part.ram_bits),
            default=None,
        )

    def _cycles(self, part: TiledPart) -> int:
        return self.comparison.of(part).cycles

    def _refused(self) -> RtlgenError:
        why = [form.why_refused() for form in self._in_lanes]
        refused = [error for error in why if error is not None]
        assert refused, "some tiles were tried"
        # That RAM is missing says more than what was wrong with other orders.
        small = [error for error in refused if isinstance(error, WindowsTooLarge)]
        # And what keeps lanes from running in step more than what does tiles in loops without them.
        first = min(refused, key=lambda error: not isinstance(error, NoLanes))
        return min(small, key=lambda error: error.bits, default=first)


def _neighbours(sizes: tuple[int, ...], lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield sizes with one side twice, or half as long: a power of two, or the whole loop."""
    for k, size in enumerate(sizes):
        for other in (min(2 * size, lengths[k]), 1 << (size - 1).bit_length() >> 1):
            if other not in (0, size):
                yield (*sizes[:k], other, *sizes[k + 1 :])


def _flatter(tiling: Tiling, lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield sizes with the side of the outermost loop half as long, and another one twice.

    They move about as many words, but units that are some tiles behind others are behind by less.
    """
    if not tiling.order:
        return
    outer = tiling.outermost
    if tiling.sizes[outer] % 2:
        return
    for k, size in enumerate(tiling.sizes):
        if k != outer and 2 * size <= lengths[k]:
            sizes = list(tiling.sizes)
            sizes[outer], sizes[k] = sizes[outer] // 2, 2 * size
            yield tuple(sizes)


def _lengthened(
    sizes: tuple[int, ...], lengths: tuple[int, ...], factors: Sequence[Fraction | int]
) -> Iterator[tuple[int, ...]]:
    """Yield sizes with one side so many times as long."""
    for factor in factors:
        for k, size in enumerate(sizes):
            longer = size * factor
            if longer.denominator == 1 and longer <= lengths[k]:
                yield (*sizes[:k], int(longer), *sizes[k + 1 :])
