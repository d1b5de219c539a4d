"""The passes of the compiler, by name, in the order in which a program goes through them."""

PASSES = (
    "parse", "prune", "unroll", "fold", "expand", "strip", "normalise", "reschedule", "tile",
    "wavefront", "skew", "distribute", "permute", "pad", "flatten", "fuse", "plan",
)  # fmt: skip

DUMPED = ("lower", *PASSES)
"""Those whose result can be shown; the first one's is C, as the statements are read from it."""

TRANSFORMS = PASSES[:-1]
"""The passes whose result is a program."""

TILED_PASSES = ("parse", "prune", "fold", "normalise", "tile", "transfer")
"""Those of a program with arrays off chip."""
