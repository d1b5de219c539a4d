"""The tables by name."""

from __future__ import annotations

from rtlgen.bench.fp32 import FP32
from rtlgen.bench.hls19 import HLS19
from rtlgen.bench.limit import LIMIT
from rtlgen.bench.mf3 import MF3
from rtlgen.bench.stencils import STENCILS
from rtlgen.bench.table import BenchTable
from rtlgen.bench.threads import THREADS
from rtlgen.bench.tiles import TILES
from rtlgen.errors import RtlgenError


class UnknownBenchmark(RtlgenError):
    """There is no benchmark of that name.

    `rtlgen bench NAME` reproduces one published table beside this project's own figures. The
    message lists the names.
    """

    code = "E0405"


TABLES = {table.name: table for table in (MF3, HLS19, FP32, LIMIT, STENCILS, TILES, THREADS)}


def find_table(name: str) -> BenchTable:
    """Return the table called `name`.

    Raises
    ------
    UnknownBenchmark
    """
    if name not in TABLES:
        raise UnknownBenchmark(
            f"there is no benchmark {name}", help=f"the benchmarks are {', '.join(TABLES)}"
        )
    return TABLES[name]
