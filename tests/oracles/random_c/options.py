"""Random options of the compiler."""

from __future__ import annotations

import random
from collections.abc import Mapping

from rtlgen.options import (
    EXPAND_MODES,
    FUSE_MODES,
    FUSIONS,
    SCHEDULERS,
    WRITE_PORTS,
    CompileOptions,
)
from rtlgen.target import target_names


def random_options(
    seed: int, function: str | None = None, defines: Mapping[str, str] | None = None
) -> CompileOptions:
    """Return the options of a seed; half of them are what a user gets without any."""
    rng = random.Random(f"options {seed}")
    plain = CompileOptions(function=function, defines=dict(defines or {}))
    if rng.random() < 0.5:
        return plain
    scheduler = rng.choice((None, None, None, *SCHEDULERS))
    return CompileOptions(
        function=function,
        defines=dict(defines or {}),
        target=rng.choice(target_names()),
        fuse=rng.choice(("mf3", "mf3", "mf3", *FUSE_MODES)),
        shifts={"S0": rng.randint(0, 9)} if rng.random() < 0.1 else {},
        index_style=rng.choice(("odometer", "odometer", "odometer", "divide", "shift")),
        index_latency_cycles=rng.choice((None, None, 2)),
        checksum=rng.random() < 0.2,
        expand=rng.choice(EXPAND_MODES),
        write_ports=rng.choice(WRITE_PORTS),
        scheduler=scheduler,
        fusion=rng.choice(FUSIONS),
        tile=rng.choice(((), (2,), (4,), (4, 4))) if scheduler else (),
        wavefront=scheduler is not None and rng.random() < 0.3,
    )
