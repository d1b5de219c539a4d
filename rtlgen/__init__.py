"""Affine C loop nests to Verilog, one iteration a clock cycle, proven equal.

import rtlgen

design = rtlgen.compile("gemm.c", define={"N": 8})
out = design.run(A=a, B=b, C=c, alpha=3, beta=2)   # out.arrays["C"], out.cycles
design.write("build/gemm")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtlgen.chaining import Chain, ChainVerification, chain
    from rtlgen.design import Design, compile
    from rtlgen.errors import RtlgenError
    from rtlgen.verify.equivalence import Verification
    from rtlgen.verify.session import RunResult, Session

    __version__: str

__all__ = [
    "Chain",
    "ChainVerification",
    "Design",
    "RtlgenError",
    "RunResult",
    "Session",
    "Verification",
    "__version__",
    "chain",
    "compile",
]

_HOMES = {
    "__version__": "rtlgen.errors",
    "Chain": "rtlgen.chaining",
    "ChainVerification": "rtlgen.chaining",
    "chain": "rtlgen.chaining",
    "Design": "rtlgen.design",
    "RtlgenError": "rtlgen.errors",
    "RunResult": "rtlgen.verify.session",
    "Session": "rtlgen.verify.session",
    "Verification": "rtlgen.verify.equivalence",
    "compile": "rtlgen.design",
}


def __getattr__(name: str) -> object:
    # A simulator process, and `rtlgen --version`, need nothing of the compiler.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    member = "VERSION" if name == "__version__" else name
    return getattr(import_module(_HOMES[name]), member)
