"""Take measurements again: `python -m benchmarks [NAME...]`."""

from __future__ import annotations

import sys

from benchmarks import (
    build_time,
    example_figures,
    examples,
    floats,
    index_styles,
    nests,
    published,
    scaling,
    session,
    tile_parts,
)

BENCHMARKS = {
    "build_time": build_time.main,
    "session": session.main,
    "index_styles": index_styles.main,
    "floats": floats.main,
    "nests": nests.main,
    "stencils": published.stencils,
    "examples": examples.main,
    "tile_parts": tile_parts.main,
    "mf3": published.mf3,
    "hls19": published.hls19,
    "limit": published.limit,
    "example_figures": example_figures.main,
}

BY_NAME = {
    "threads": published.threads,
    "scaling": scaling.main,
}
"""Left out where no benchmark is named: the first takes hours, the second needs another package."""


def main() -> int:
    """Run the named benchmarks, by default most; return 1 when one missed its target."""
    names = sys.argv[1:] or list(BENCHMARKS)
    known = BENCHMARKS | BY_NAME
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {unknown[0]}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    outcomes = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        outcomes.append(known[name]())
    return max(outcomes)


if __name__ == "__main__":
    sys.exit(main())
