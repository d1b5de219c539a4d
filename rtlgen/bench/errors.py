"""What a benchmark refuses."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class UnknownBenchmark(RtlgenError):
    """There is no benchmark of that name.

    `rtlgen bench NAME` reproduces one published table beside this project's own figures. The
    message lists the names.
    """

    code = "E0405"


class NoRowSelected(RtlgenError):
    """`--only` matches no row of the benchmark.

    The pattern is compared with the whole name of a kernel, as a shell compares file names:
    `--only 'mms*'` takes mms and mms_d. Quote it, or the shell expands it first.
    """

    code = "E0406"


class KernelsNotFound(RtlgenError):
    """A benchmark does not find the C files of its kernels.

    They are in rtlgen's repository: row `gemm` measures `DIR/gemm/gemm.c` or `DIR/gemm.c`, where
    DIR is what `--kernels` says, by default `examples` in the current directory, or the folder in
    `benchmarks` that is called like the benchmark. Run it at the top of a checkout, or say where
    one is:

        rtlgen bench mf3 --kernels ~/rtlgen/examples
    """

    code = "E0407"
