"""Arrays that come in, or go out, over AXI4-Stream: exact, whether the other side waits or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.poly.errors import StreamOutOfOrder
from rtlgen.report.text import plan_report_text
from rtlgen.sim.axi_behaviour import AxiBehaviour
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.tiling.errors import NotInTiles
from rtlgen.verify.cosim import Engine, simulate_all
from tests.simulators import needs_icarus

KERNELS = Path(__file__).parents[1] / "kernels"

FIR = """
enum { N = 24, TAPS = 5 };
void fir(const int x[N], const int h[TAPS], int y[N]) {
  int window[TAPS];
  for (int k = 0; k < TAPS; k++) window[k] = 0;
  for (int i = 0; i < N; i++) {
    for (int k = TAPS - 1; k > 0; k--) window[k] = window[k - 1];
    window[0] = x[i];
    int sum = 0;
    for (int k = 0; k < TAPS; k++) sum += h[k] * window[k];
    y[i] = sum;
  }
}
"""

BLUR = """
#include <stdint.h>
enum { H = 5, W = 6 };
void blur(const uint8_t in[H][W], uint8_t out[H][W]) {
  uint8_t above[W], upper[W];
  for (int x = 0; x < W; x++) { above[x] = 0; upper[x] = 0; }
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      uint8_t pixel = in[y][x];
      out[y][x] = (upper[x] + 2 * above[x] + pixel) >> 2;
      upper[x] = above[x];
      above[x] = pixel;
    }
}
"""

DECIMATED = """
enum { N = 16 };
void decimated(const int x[N], long y[N / 2], int least[1]) {
  int low = x[0];
  y[0] = low + x[1];
  for (int i = 1; i < N / 2; i++) {
    int a = x[2 * i];
    int b = x[2 * i + 1];
    y[i] = (long)a * b;
    low = a < low ? a : low;
  }
  least[0] = low;
}
"""

PRODUCT = """
enum { N = 4 };
void product(const int a[N][N], const int x[N], int y[N]) {
  int kept[N];
  for (int i = 0; i < N; i++) kept[i] = x[i];
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < N; j++) sum += a[i][j] * kept[j];
    y[i] = sum;
  }
}
"""

ALONE = """
int total(const short x[20]) {
  int sum = 0;
  for (int i = 0; i < 20; i++) sum += x[i];
  return sum;
}
"""

COMPACTED = """
int compacted(const short x[24], short out[24], int squares[24]) {
  int n = 0;
  for (int i = 0; i < 24; i++) {
    if (x[i] > 0) out[n++] = x[i];
    squares[i] = x[i] * x[i];
  }
  return n;
}
"""

PROGRAMS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "window of registers": (FIR, {"x": "stream", "y": "stream"}, {"pipeline": ("i",)}),
    "window in a loop": (FIR, {"x": "stream", "y": "stream"}, {}),
    "lines": (BLUR, {"": "stream"}, {}),
    "two readers": (DECIMATED, {"x": "stream", "y": "stream"}, {}),
    "copied in": (PRODUCT, {"": "stream"}, {}),
    "lanes of others": (PRODUCT, {"x": "stream", "y": "stream"}, {"unroll": {"j": 2}}),
    "several readers of one element": (COMPACTED, {"x": "stream", "squares": "stream"}, {}),
    "in alone": (ALONE, {"x": "stream"}, {}),
}
"""Text, places, and other options."""


def design_of(text: str, memory: dict[str, str], **options: Any) -> Design:
    chosen = CompileOptions(memory=memory, **options)
    return Design(compile_program(parse_text(text, "f.c"), chosen), chosen)


@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("name", PROGRAMS)
def test_streams_are_exact_with_and_without_pauses(name: str) -> None:
    text, memory, options = PROGRAMS[name]
    found = design_of(text, memory, **options).verify(simulator="icarus")
    assert found.failures == ()
    assert found.cycles == found.predicted_cycles
    # A pause may fall where the kernel does not wait for the stream.
    assert all(cycles >= found.predicted_cycles for cycles in found.paused_cycles)
    assert any(cycles > found.predicted_cycles for cycles in found.paused_cycles)
    assert len(found.paused_cycles) == 2


@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("seed", [0, 7])
def test_both_hosts_offer_and_take_words_in_the_same_cycles(tmp_path: Path, seed: int) -> None:
    design = design_of(BLUR, {"": "stream"})
    design.write(tmp_path / "build")
    data = {"in": np.arange(30, dtype=np.uint8).reshape(5, 6), "out": np.zeros((5, 6), np.uint8)}
    ways: tuple[tuple[Simulator, Engine], ...] = (
        ("icarus", "cocotb"),
        ("verilator", "native"),
    )
    cycles = [
        [
            result.cycles
            for result in simulate_all(
                tmp_path / "build",
                design.manifest,
                [data, data],
                simulator=simulator,
                engine=engine,
                axi=AxiBehaviour(pauses=seed),
            )
        ]
        for simulator, engine in ways
    ]
    assert cycles[0] == cycles[1]
    assert (cycles[0][0] > design.manifest.predicted_cycles) == bool(seed)


@pytest.mark.simulation
def test_a_run_that_a_reset_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    design = design_of(FIR, {"x": "stream", "y": "stream"}, pipeline=("i",))
    design.write(tmp_path / "build")
    x, h = np.arange(24, dtype=np.int32), np.arange(5, dtype=np.int32)
    data = {"x": x, "h": h, "y": np.zeros(24, np.int32)}
    for cycle in (1, 9, 20):
        (found,) = simulate_all(
            tmp_path / "build",
            design.manifest,
            [data],
            axi=AxiBehaviour(pauses=cycle),
            reset_cycle=cycle,
        )
        assert found.arrays["y"].tolist() == np.convolve(x, h)[:24].tolist()


@pytest.mark.simulation
def test_a_session_streams_one_frame_after_another() -> None:
    design = design_of(BLUR, {"": "stream"})
    rng = np.random.default_rng(5)
    with design.session() as session:
        for _ in range(3):
            image = rng.integers(0, 256, (5, 6), np.uint8)
            above = np.vstack([np.zeros((2, 6), int), image.astype(int)])
            wanted = (above[:-2] + 2 * above[1:-1] + above[2:]) >> 2
            assert session.run(inputs={"in": image}).arrays["out"].tolist() == wanted.tolist()


STREAMED = (
    ("constant_quotients.c", ("a", "u", "q", "w", "sums")),
    ("cordic.c", ("angle", "sine", "cosine")),
    ("dct8x8.c", ("out",)),
    ("histogram_equalise.c", ("z",)),
    ("packed_rows.c", ("packed",)),
    ("prefix_sum.c", ("a", "b")),
    ("viterbi.c", ("seen",)),
    ("zigzag.c", ("q", "out")),
)


@pytest.mark.simulation
@needs_icarus
@pytest.mark.sample("packed_rows*")
@pytest.mark.parametrize(("file", "names"), STREAMED, ids=[file for file, _ in STREAMED])
def test_kernels_are_exact_over_streams(file: str, names: tuple[str, ...]) -> None:
    design = rtlgen.compile(KERNELS / file, memory=dict.fromkeys(names, "stream"))
    found = design.verify(simulator="icarus", seeds=1)
    assert found.failures == ()


def test_the_plan_says_what_its_cycles_hold_for() -> None:
    design = design_of(ALONE, {"x": "stream"})
    said = "streams: x in; the cycles are those behind sources and sinks that never"
    assert said in plan_report_text(design.report())
    (memory,) = (m for m in design.report()["memories"] if m["name"] == "x")
    assert (memory["kind"], memory["host_port"], memory["banks"]) == ("source", False, 0)
    assert design.block_rams == 0


def test_lanes_do_not_read_a_stream_side_by_side() -> None:
    with pytest.raises(StreamOutOfOrder, match=r"a\[0\]\[1\] is read with a\[0\]\[0\]"):
        design_of(PRODUCT, {"a": "stream"}, unroll={"j": 2})


def test_streams_and_arrays_off_chip_are_not_for_one_kernel() -> None:
    with pytest.raises(NotInTiles, match="--memory x=stream"):
        design_of(PRODUCT, {"x": "stream", "a": "axi"})


def test_lanes_that_are_promised_are_those_that_a_stream_can_feed() -> None:
    text = FIR.replace("sum += h[k] * window[k]", "sum += h[k]")
    plain = design_of(text, {}).report(with_faster=True)["faster"]
    assert min(offer.get("cycles_at_least", offer.get("predicted_cycles")) for offer in plain) < 24
    for offer in design_of(text, {"x": "stream"}).report(with_faster=True)["faster"]:
        assert offer.get("cycles_at_least", 24) >= 24
