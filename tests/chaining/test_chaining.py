"""Kernels that are joined by streams: exact, and about as fast as the slower one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen
from rtlgen.chaining import NoChain
from rtlgen.errors import RtlgenError
from rtlgen.manifest.file import sha256_of
from tests.simulators import needs_icarus

BLUR = """
#include <stdint.h>
enum {{ H = 6, W = 8 }};
void {name}(const uint8_t in[H][W], uint8_t out[H][W]) {{
  {state}
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {{
      uint8_t pixel = in[y][x];
      {compute}
    }}
}}
"""
ROWS = BLUR.format(
    name="rows",
    state="uint8_t before = 0;",
    compute="out[y][x] = (before + pixel) >> 1; before = pixel;",
)
COLUMNS = BLUR.format(
    name="columns",
    state="uint8_t above[W]; for (int x = 0; x < W; x++) above[x] = 0;",
    compute="out[y][x] = (above[x] + pixel) >> 1; above[x] = pixel;",
)
SUM = """
#include <stdint.h>
void total(const uint8_t image[48], uint32_t sum[1], uint8_t bias) {
  uint32_t all = bias;
  for (int i = 0; i < 48; i++) all += image[i];
  sum[0] = all;
}
"""


def kernel(source: str, **options: object) -> rtlgen.Design:
    return rtlgen.compile(source=source, **options)  # type: ignore[arg-type]


def separable() -> rtlgen.Chain:
    rows, columns = kernel(ROWS, memory="stream"), kernel(COLUMNS, memory="stream")
    return rtlgen.chain(rows, columns, connect=["rows.out=columns.in"], name="blur")


@pytest.mark.simulation
@needs_icarus
def test_a_separable_blur_is_exact_in_about_the_cycles_of_one_pass() -> None:
    chain = separable()
    found = chain.verify(simulator="icarus")
    assert found.failures == ()
    assert found.exact
    assert found.cycles == found.predicted_cycles == chain.predicted_cycles
    assert found.cycles < 60
    assert chain.cycles_together > 1.7 * found.cycles
    assert all(cycles > found.cycles for cycles in found.paused_cycles)


@pytest.mark.simulation
def test_three_kernels_run_on_given_data(tmp_path: Path) -> None:
    rows, columns = kernel(ROWS, memory="stream"), kernel(COLUMNS, memory="stream")
    last = kernel(SUM, memory={"image": "stream"})
    chain = rtlgen.chain(
        rows, columns, last, connect=["rows.out=columns.in", "columns.out=total.image"]
    )
    assert [array.name for array in chain.manifest.data_arrays] == ["in", "sum"]
    image = np.random.default_rng(1).integers(0, 256, (6, 8), np.uint8)
    flat = image.astype(int).reshape(-1)
    across = ((np.concatenate([[0], flat[:-1]]) + flat) >> 1).reshape(6, 8)
    down = (np.vstack([np.zeros((1, 8), int), across[:-1]]) + across) >> 1
    out = chain.run(inputs={"in": image}, bias=7)
    assert out.arrays["sum"].tolist() == [int(down.sum()) + 7]
    assert chain.write(tmp_path / "made").read_text() == chain.verilog


@pytest.mark.simulation
@needs_icarus
def test_a_wrong_joint_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, right = separable(), ".s_axis_in_tdata(rows_out_tdata)"
    assert chain.verilog.count(right) == 1
    spoilt = chain.verilog.replace(right, right.replace("(rows", "(~rows"))
    file = replace(chain.manifest.verilog, sha256=sha256_of(spoilt))
    monkeypatch.setattr(chain, "verilog", spoilt)
    monkeypatch.setattr(chain, "manifest", replace(chain.manifest, verilog=file))
    found = chain.verify(simulator="icarus")
    assert not found.exact
    assert found.failures


@pytest.mark.parametrize(
    ("connect", "why"),
    [
        ("rows.out", "is no joint"),
        ("rows.x=columns.in", "rows.x is no stream"),
        ("rows.in=columns.in", "does not lead"),
        ("columns.out=rows.in", "leads back"),
        ("rows.out=total.image", "is joined 2 times"),
    ],
)
def test_joints_that_cannot_be_are_refused(connect: str, why: str) -> None:
    kernels = [kernel(text, memory="stream") for text in (ROWS, COLUMNS)]
    kernels.append(kernel(SUM, memory={"image": "stream"}))
    joints = [connect] if why != "is joined 2 times" else [connect, "rows.out=columns.in"]
    with pytest.raises(NoChain, match=why):
        rtlgen.chain(*kernels, connect=joints)


@pytest.mark.parametrize(
    ("source", "options", "why"),
    [
        (COLUMNS.replace("uint8_t", "int16_t"), {}, "joins 48 x uint8 to 48 x int16"),
        (COLUMNS, {"top": "axi"}, "has registers"),
        (
            COLUMNS.replace("above[x] + pixel", "above[x] + base[x]").replace(
                "H][W], uint8_t", "H][W], const uint8_t base[W], uint8_t"
            ),
            {"memory": {"in": "stream", "out": "stream", "base": "external"}},
            "columns has arrays in RAMs beside it",
        ),
        (ROWS, {}, "are no chain"),
    ],
)
def test_kernels_that_do_not_fit_are_refused(
    source: str, options: dict[str, object], why: str
) -> None:
    first = kernel(ROWS, memory="stream")
    second = kernel(source, **{"memory": "stream", **options})
    with pytest.raises(RtlgenError, match=why):
        rtlgen.chain(first, second, connect=["rows.out=columns.in"])


@pytest.mark.parametrize("name", ["module", "logic", "a b", "../up", "1st", "_x", "", "rows"])
def test_a_chain_has_the_name_of_a_module(name: str) -> None:
    kernels = [kernel(text, memory="stream") for text in (ROWS, COLUMNS)]
    with pytest.raises(NoChain, match=r"is no name of|are no chain"):
        rtlgen.chain(*kernels, connect=["rows.out=columns.in"], name=name)


SHARED = """
void {name}(const int x[8], int y[8], {arrays}) {{
  for (int i = 0; i < 8; i++) {{ y[i] = x[i]; {body} }}
}}
"""


@pytest.mark.simulation
@needs_icarus
def test_arrays_of_several_kernels_are_told_apart() -> None:
    first = SHARED.format(
        name="a",
        arrays="int b_z[4], int z[4]",
        body="b_z[i & 3] ^= x[i]; z[i & 3] += x[i];",
    )
    second = SHARED.format(name="b", arrays="int z[4]", body="z[i & 3] -= x[i];")
    places = {"x": "stream", "y": "stream"}
    kernels = [kernel(text, memory=places) for text in (first, second)]
    chain = rtlgen.chain(*kernels, connect=["a.y=b.x"])
    assert [array.name for array in chain.manifest.arrays] == ["x", "b_z", "a_z", "y", "b_z_2"]
    found = chain.verify(simulator="icarus")
    assert found.exact
    assert found.failures == ()


EACH = """
void each(const unsigned char in[48], int out[48]) {
  for (int i = 0; i < 48; i++) {
    int all = in[i];
    for (int k = 0; k < 4; k++) all += (all ^ k) % 7;
    out[i] = all;
  }
}
"""
PAIR = """
void send(const int x[16], int a[16], int b[16]) {{
  for (int i = 0; i < 16; i++) a[i] = x[i];
  for (int i = 0; i < 16; i++) b[i] = x[i] * i;
}}
void take(const int a[16], const int b[16], int y[16]) {{
  int kept[16];
  for (int i = 0; i < 16; i++) kept[i] = {first}[i];
  for (int i = 0; i < 16; i++) y[i] = {second}[i] / (kept[i] | 1);
}}
"""


def pair(first: str, second: str) -> rtlgen.Chain:
    text = PAIR.format(first=first, second=second)
    sender = kernel(text, function="send", memory={"a": "stream", "b": "stream"})
    taker = kernel(text, function="take", memory="stream")
    return rtlgen.chain(sender, taker, connect=["send.a=take.a", "send.b=take.b"])


@pytest.mark.simulation
@needs_icarus
def test_two_streams_between_two_kernels_are_as_fast_as_predicted() -> None:
    found = pair("a", "b").verify(simulator="icarus")
    assert found.failures == ()
    assert found.predicted_cycles < found.together


def test_kernels_that_wait_for_each_other_for_ever_are_refused() -> None:
    with pytest.raises(NoChain, match="send and take would wait for each other"):
        pair("b", "a")


@pytest.mark.simulation
@needs_icarus
def test_words_that_come_faster_than_they_are_taken_are_predicted() -> None:
    fast = kernel(ROWS, memory="stream", pipeline="x")
    slow = kernel(EACH, memory="stream")
    chain = rtlgen.chain(fast, slow, connect=["rows.out=each.in"])
    found = chain.verify(simulator="icarus")
    assert found.failures == ()
    assert found.cycles == chain.predicted_cycles


def test_a_kernel_whose_copies_a_start_swaps_is_refused() -> None:
    total = kernel(SUM, memory={"image": "stream"}, double_buffer="sum")
    with pytest.raises(NoChain, match="total has arrays in two copies"):
        rtlgen.chain(kernel(ROWS, memory="stream"), total, connect=["rows.out=total.image"])
