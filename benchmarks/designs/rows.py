"""The designs of the gate: commands of `rtlgen plan`, so that each engine and option has some."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.record import EXAMPLES, ROOT
from rtlgen.bench.hls19 import HLS19
from rtlgen.bench.stencils import STENCILS
from rtlgen.bench.table import BenchTable


def _examples() -> Iterator[str]:
    """Give each example as its page shows it, and with its nests one after another."""
    for path in sorted(EXAMPLES.glob("*/*.c")):
        yield str(path.relative_to(ROOT))
        yield f"{path.relative_to(ROOT)} --fuse none"


SLOW = frozenset(
    {
        *("cholesky", "cholesky@4", "durbin@4", "gramschmidt", "gramschmidt@8", "symm@3"),
        *("lu", "lu@8", "ludcmp", "ludcmp@4"),
        *("heat_3d@cascaded", "seidel_2d@plain", "seidel_2d@skewed", "seidel_2d@cascaded"),
    }
)
"""Rows of tables whose plan alone takes more than 20 seconds of processor time."""


def _table(table: BenchTable) -> Iterator[str]:
    """Give the rows of a published table as the table builds them."""
    for row in table.rows:
        if row.kernel not in SLOW:
            given = row.options
            options = [f"--unroll {loop}={n}" for loop, n in given.get("unroll", {}).items()]
            options += [f"--scheduler {given['scheduler']}"] if "scheduler" in given else []
            options += ["--wavefront"] if given.get("wavefront") else []
            yield " ".join([f"{table.kernels}/{row.file}.c", "--memory onchip", *options])


OPTIONS = """
examples/gemm/gemm.c --unroll k=8
examples/gemm/gemm.c --unroll k=all --partition A=complete:2
examples/gemm/gemm.c --pipeline j
examples/mvt/mvt.c --pipeline mvt
examples/gemm/gemm.c --max-dsp 3
examples/gemm/gemm.c --max-dsp 16 --max-bram 8
examples/3mm/3mm.c --max-dsp 9
benchmarks/hls19/2mm.c --max-dsp 9
tests/kernels/sobel.c --max-dsp 8
tests/planning/long_loop.c --memory onchip
tests/planning/alignment.c
tests/planning/attention.c
tests/planning/periods.c
tests/planning/gaps.c
tests/planning/gaps.c -D N=110 -D M=150
tests/planning/knapsack.c
tests/planning/sort_rows.c
tests/planning/row_hash.c
tests/planning/training.c
tests/planning/turns.c
tests/planning/row_hash.c --memory x=axi
examples/gemm/gemm.c --partition A=cyclic:2:8 --partition B=complete:1
examples/gemm/gemm.c --partition A=block:2:4 --unroll k=4
examples/gemm64/gemm64.c --max-bram 40
examples/gemm64/gemm64.c --max-bram 8
examples/2mm/2mm.c --memory onchip --max-bram 1
benchmarks/stencils/jacobi_2d.c --max-bram 3
examples/transposed/transposed.c --scheduler pluto
examples/transposed/transposed.c --tile 4,4 --wavefront
examples/gemver/gemver.c --scheduler pluto
examples/gemver/gemver.c --scheduler pluto --fusion max
examples/gemver/gemver.c --scheduler feautrier
examples/2mm/2mm.c --scheduler isl
examples/gemm/gemm.c --tile 4,4,4
examples/mvt/mvt.c --tile 4,4
tests/end_to_end/kernels/seidel_2d.c --tile 2,2,2
tests/end_to_end/kernels/seidel_2d.c --wavefront
tests/end_to_end/kernels/jacobi_1d.c --scheduler pluto --tile 2,4
tests/end_to_end/kernels/pluto_example.c --scheduler feautrier
examples/2mm/2mm.c --fuse ols
examples/mms_d/mms_d.c --fuse ols
examples/mms_d/mms_d.c --shift S1=26
examples/mms_d/mms_d.c --shift S1=10
examples/atax/atax.c --expand never
examples/atax/atax.c --expand always
examples/2mm_d/2mm_d.c --write-ports one
tests/end_to_end/kernels/gramschmidt.c --write-ports one
examples/mms_d/mms_d.c --index divide
examples/gemm/gemm.c --index divide --index-latency 3
examples/gemm/gemm.c --index shift
examples/dct/dct.c --checksum
examples/mvt/mvt.c --target xilinx
examples/mvt/mvt.c --target ice40
examples/gemm/gemm.c --target ice40 --unroll k=4
examples/aes/aes.c --function expand_key
examples/aes/aes.c --unroll n=4
examples/gemm/gemm.c -D N=64 --memory axi --tile 16,16,16 --unroll j=8
examples/gemm/gemm.c -D N=32 --memory fixed:8
examples/gemm/gemm.c -D N=32 --memory axi
examples/gemm/gemm.c -D N=32 --memory axi --top axi
examples/gemm/gemm.c --double-buffer A --double-buffer B --double-buffer C
examples/gemm/gemm.c --top axi
examples/gemm/gemm.c --top axi --double-buffer A
examples/gesummv/gesummv.c --memory A=stream --memory B=stream
examples/serially_execute/serially_execute.c --memory A=stream --memory B=stream --top axi
examples/gemm/gemm.c --interface external --unroll k=4
examples/gemm/gemm.c --memory fixed:8 --memory A=onchip --bus-bits 32
examples/gemm/gemm.c --memory fixed:8 --no-buffer
examples/transposed/transposed.c -D N=64 -D ELEMENT=uint8_t --memory fixed:8 --tile 8,8
examples/transposed/transposed.c -D N=64 --memory fixed:8 --tile 8,8 --no-buffer
examples/transposed/transposed.c -D N=64 --memory axi --tile 8,8 --threads 4 --barrier --strategy F
examples/transposed/transposed.c -D N=64 --memory axi --tile 8,8 --threads 2 --strategy C
examples/transposed/transposed.c -D N=64 --memory dram --max-bram 24 --unroll i=8
examples/mvt/mvt.c --max-dsp 12
examples/gemm/gemm.c --memory dram --unroll k=4
examples/horner/horner.c -D N=32 --memory axi:50 --bus-bits 256 --tile 8,8,16 --threads 2
examples/structure/structure.c --memory axi
examples/3mm/3mm.c --memory fixed:8
examples/doitgen/doitgen.c --memory axi:50
benchmarks/workers/gemm.c -D N=24 --memory axi:50 --threads 4
benchmarks/workers/mm2.c -D N=24 --memory axi
benchmarks/workers/seidel.c -D N=24 -D T=4 --memory fixed:8
tests/kernels/sobel.c
tests/kernels/sobel.c --pipeline x
tests/kernels/gaussian.c
tests/kernels/fir.c --unroll k=all
tests/kernels/fir.c --unroll n=4
tests/kernels/conv_layer.c --pipeline c
tests/kernels/stencil3d.c --memory axi
tests/kernels/heat.c --unroll t=2
tests/kernels/viterbi.c --unroll to=4
tests/kernels/min_plus.c --unroll j=3
tests/kernels/relu.c --unroll i=8
examples/float/fgemm/fgemm.c
examples/float/half_fir/half_fir.c
examples/float/jacobi_solver/jacobi_solver.c
examples/float/softmax_layer/softmax_layer.c
examples/float/fgemm/fgemm.c --unroll j=4
benchmarks/fp32/atax.c --memory onchip
benchmarks/fp32/mvt.c --memory onchip
benchmarks/fp32/gesummv.c --memory onchip
examples/float/fgemm/fgemm.c --max-dsp 8
examples/float/fgemm/fgemm.c -D N=32 --memory axi --max-dsp 32
tests/forms/float_dot.c
tests/forms/float_dot.c --float reassociate
examples/float/fgemm/fgemm.c --float ftz
benchmarks/functions/functions.c
tests/forms/double_solve.c
tests/polybench/jacobi-2d.c --function kernel_jacobi_2d
tests/forms/scatter_bins.c
tests/forms/lookup_rows.c
tests/forms/struct_sizes.c -D in_w=6 -D in_h=5 -D filter_w=3 -D filter_h=2
tests/forms/scatter_compact.c
tests/forms/scatter_compact.c --memory x=stream
tests/forms/scatter_histogram.c
tests/forms/scatter_histogram.c --memory x=axi
tests/forms/scatter_kmeans.c
tests/forms/scatter_pivot.c
tests/forms/scatter_queue.c
tests/forms/scatter_sort.c
"""

KERNELS = """
tests/end_to_end/kernels/adi.c
tests/end_to_end/kernels/bubble_like.c
tests/end_to_end/kernels/cholesky.c
tests/end_to_end/kernels/covariance.c
tests/end_to_end/kernels/deriche_like.c
tests/end_to_end/kernels/durbin.c
tests/end_to_end/kernels/fdtd_2d.c
tests/end_to_end/kernels/floyd_warshall.c
tests/end_to_end/kernels/gramschmidt.c
tests/end_to_end/kernels/nussinov.c
tests/end_to_end/kernels/mirrored.c
tests/end_to_end/kernels/reversal.c
tests/end_to_end/kernels/rows_of_two_lengths.c
tests/end_to_end/kernels/two_triangles.c
tests/end_to_end/regressions/inner_period_grows.c
tests/end_to_end/regressions/kept_temporary.c
tests/end_to_end/shapes/slopes.c
tests/end_to_end/shapes/strides.c
tests/end_to_end/shapes/tiles.c
tests/kernels/biquads.c
tests/kernels/blocks.c
tests/kernels/conv_layer.c
tests/kernels/cordic.c
tests/kernels/correlation.c
tests/kernels/crc_words.c
tests/kernels/edit_distance.c
tests/kernels/fir.c
tests/kernels/histogram_equalise.c
tests/kernels/iir.c
tests/kernels/lms.c
tests/kernels/matrix_chain.c
tests/kernels/mosaic.c
tests/kernels/odd_even_sort.c
tests/kernels/run_ahead.c
tests/kernels/time_levels.c
tests/kernels/viterbi.c
"""

ROWS = tuple(
    sorted(
        {
            *_examples(),
            *_table(HLS19),
            *_table(STENCILS),
            *OPTIONS.strip().splitlines(),
            *KERNELS.strip().splitlines(),
        }
    )
)

SAMPLE = (
    "benchmarks/hls19/trisolv.c --memory onchip",
    "examples/2mm/2mm.c",
    "examples/gemm/gemm.c --max-dsp 3",
    "examples/gemm/gemm.c --memory fixed:8 --memory A=onchip --bus-bits 32",
    "examples/gemm/gemm.c --partition A=block:2:4 --unroll k=4",
    "examples/gemm/gemm.c --unroll k=8",
    "examples/gemver/gemver.c --scheduler pluto",
    "examples/mms_d/mms_d.c --index divide",
    "examples/mms_d/mms_d.c --shift S1=10",
    "examples/transposed/transposed.c -D N=64 --memory axi --tile 8,8 --threads 2 --strategy C",
    "examples/transposed/transposed.c --tile 4,4 --wavefront",
    "tests/end_to_end/kernels/adi.c",
    "tests/end_to_end/kernels/covariance.c",
)
"""Rows that take a second or two each: `make test` compares them."""
