"""The schedule that was chosen: its loops, bands and marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop
from rtlgen.nests.pauses import Pause
from rtlgen.poly.edges import in_coordinates
from rtlgen.poly.schedule_tree import Band, Node, Row, bands_of, loop_rows, statements_of
from rtlgen.report.tables import counted, text_table
from rtlgen.transforms.loop_schedule import Scheduled
from rtlgen.transforms.skew import Skewed


def schedule_report(scheduled: Scheduled, iterators: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the schedule as a JSON-serialisable object.

    `rows` are the scheduler's answer, outermost first; `bands` the loops that run, tiled and skewed
    if that was asked for. `vector` is (u, w, coefficients of the iterators), where no dependence of
    the band spans more than u*N + w; only PLUTO bounds it.

    Parameters
    ----------
    iterators: of every statement, as C has them.
    """
    return {
        "scheduler": scheduled.scheduler,
        "rows": _rows(scheduled.tree, iterators),
        "bands": [_band(scheduled.final, band) for band in bands_of(scheduled.final)],
    }


ROWS_HEADER = ("stmt", "row", "schedule", "(u,w,c)", "loop")
BANDS_HEADER = ("loop", "band", "permutable", "iterations", "time")


def skew_report(skewed: Skewed | None) -> list[dict[str, Any]]:
    """Return the units that were given skewed loops, as JSON-serialisable objects.

    `loops` says what each loop counts, in terms of the C iterators; `backward` whether they are the
    loops as written, some of them run backward; `issue_slots_before` how many
    cycles the unit issued for in its own loops, and `reason` why so many.
    """
    return [
        {
            "statements": list(skew.unit.statements),
            "loops": {name: list(map(str, rows)) for name, rows in skew.rows.items()},
            "backward": skew.is_backward,
            "issue_slots_before": skew.slots_before,
            "reason": skew.reason,
        }
        for skew in (() if skewed is None else skewed.skews)
    ]


def pause_report(pauses: Sequence[Pause], scop: Scop) -> list[dict[str, Any]]:
    """Return the statements that pause after some instances, as JSON-serialisable objects.

    `after` says in terms of the C iterators what holds for these instances.
    """
    return [
        {
            "statement": pause.statement,
            "cycles": pause.cycles,
            "instances": pause.instances,
            "after": [
                f"{in_coordinates(scop.statement(pause.statement), form)} {relation} 0"
                for forms, relation in ((pause.equal, "=="), (pause.least, ">="))
                for form in forms
            ],
            "issue_slots_before": pause.slots_before,
            "reason": pause.reason,
        }
        for pause in pauses
    ]


def pause_lines(pauses: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what `pause_report` made as text, a line for every statement."""
    return [
        f"{pause['statement']} pauses {counted(pause['cycles'], 'cycle')} after "
        f"{counted(pause['instances'], 'instance')} ({', '.join(pause['after'])}), instead of "
        f"{pause['issue_slots_before']:,} issue slots: {pause['reason']}"
        for pause in pauses
    ]


def iis_as_written(
    skewed: Skewed | None, pauses: Sequence[Pause], plan: KernelPlan
) -> dict[str, int]:
    """Return how many cycles apart statements in skewed loops or with pauses would issue without.

    In loops as they are written, that is.
    """
    instances = {stream.statement: stream.instances for stream in plan.streams}
    changed = [
        *((skew.unit.statements, skew.slots_before) for skew in (skewed.skews if skewed else ())),
        *(((pause.statement,), pause.slots_before) for pause in pauses),
    ]
    return {
        name: max(1, round(slots / max(map(instances.__getitem__, ran))))
        for names, slots in changed
        if (ran := [name for name in names if name in instances])
        for name in ran
    }


def skew_lines(skews: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what `skew_report` made as text, a line for every statement."""
    return [
        f"{name} in {_new_loops(skew, loops)}: {skew['reason']}"
        for skew in skews
        for name, loops in skew["loops"].items()
    ]


def _new_loops(skew: Mapping[str, Any], loops: Sequence[str]) -> str:
    """Return what new loops count, and what they save where a unit waited in those before."""
    counted_text = f"({', '.join(loops)})"
    if skew["backward"]:
        return f"loops {counted_text}, some backward"
    return f"skewed loops {counted_text}, instead of {skew['issue_slots_before']:,} issue slots"


def schedule_text(schedule: Mapping[str, Any]) -> str:
    """Return the schedule that `schedule_report` made as text."""
    header = [f"{schedule['scheduler']} {n}" if n == "schedule" else n for n in ROWS_HEADER]
    return "\n\n".join(
        (
            text_table(header, list(row_cells(schedule))),
            text_table(BANDS_HEADER, list(band_cells(schedule))),
        )
    )


def row_cells(schedule: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the scheduler's answer, below `ROWS_HEADER`: a line a statement and row."""
    for row in schedule["rows"]:
        vector = _vector(row["vector"])
        yield row["statement"], row["level"], row["form"], vector, row["mark"]


def band_cells(schedule: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the loops that run, below `BANDS_HEADER`: a line a loop."""
    for number, band in enumerate(schedule["bands"]):
        for loop in band["loops"]:
            yield (
                f"t{loop['level']}",
                number,
                "yes" if band["permutable"] else "no",
                loop["mark"],
                "; ".join(f"{name}: {form}" for name, form in loop["forms"].items()),
            )


def _vector(vector: Sequence[int] | None) -> str | None:
    return None if vector is None else f"({','.join(map(str, vector))})"


def _rows(tree: Node, iterators: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [
        {
            "statement": name,
            "level": level,
            "form": row.text(name),
            "vector": _row_vector(row, name, iterators[name]),
            "mark": row.mark,
        }
        for name in statements_of(tree)
        for level, row in enumerate(loop_rows(tree, name), 1)
    ]


def _row_vector(row: Row, statement: str, iterators: Sequence[str]) -> list[int] | None:
    if row.bound is None:
        return None
    form = row.forms[statement]
    return [*row.bound, *(form.coefficient(iterator) for iterator in iterators)]


def _band(tree: Node, band: Band) -> dict[str, Any]:
    names = statements_of(band)
    outer = loop_rows(tree, names[0])
    first = next(level for level, row in enumerate(outer, 1) if row is band.rows[0])
    return {
        "permutable": band.permutable,
        "statements": list(names),
        "loops": [
            {
                "level": level,
                "mark": row.mark,
                "forms": {name: row.text(name) for name in names},
            }
            for level, row in enumerate(band.rows, first)
        ],
    }
