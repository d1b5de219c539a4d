"""Components as Verilog, on both simulators, through cocotb."""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.lib import wiring

from rtlgen.hw.flat_index import Divide, Shift
from rtlgen.hw.memory import LoadUser, StoreUser
from rtlgen.hw.odometer import Odometer
from rtlgen.hw.storage import build_storage
from rtlgen.ir.plan import Memory
from rtlgen.output.verilog import component_verilog
from rtlgen.sim.cocotb_runner import CocotbTestFailedError, run_tests
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation


def run_bench(
    component: wiring.Component,
    bench: str,
    settings: dict[str, int | str],
    simulator: str,
    folder: Path,
) -> None:
    """Run the cocotb module sim.`bench` on a component."""
    source = folder / "dut.v"
    source.write_text(component_verilog(component, "dut", ""))
    environment = {name: str(value) for name, value in settings.items()}
    run_tests(
        [source],
        "dut",
        [f"sim.{bench}"],
        simulator,  # type: ignore[arg-type]
        folder / "build",
        environment=environment,
    )


@pytest.mark.sample("odometer-icarus", "divide-icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    ("unit", "ii"),
    [(Odometer((3, 5, 4), 1), 1), (Odometer((2, 7), 3), 3), (Divide((3, 5, 7), 1, 3), 1)],
    ids=["odometer", "odometer-ii3", "divide"],
)
def test_an_index_unit_enumerates_its_box(
    simulator: str, unit: Odometer, ii: int, tmp_path: Path
) -> None:
    extents = ",".join(map(str, unit.extents))
    settings: dict[str, int | str] = {"EXTENTS": extents, "II": ii, "LATENCY": unit.latency_cycles}
    run_bench(unit, "bench_index_unit", settings, simulator, tmp_path)


def test_the_bench_fails_an_index_unit_of_another_box(tmp_path: Path) -> None:
    settings: dict[str, int | str] = {"EXTENTS": "3,4", "II": 1, "LATENCY": 0}
    with pytest.raises(CocotbTestFailedError):
        run_bench(Shift((4, 4), 1), "bench_index_unit", settings, "verilator", tmp_path)


def block(depth: int, width_bits: int) -> Memory:
    return Memory(
        name="A",
        width_bits=width_bits,
        signed=True,
        shape=(depth,),
        role="inout",
        storage="parameter",
        kind="block",
        read_ports=1,
        read_latency_cycles=2,
        collision_free=True,
    )


@pytest.mark.sample("1-8-icarus", "64-64-icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(("depth", "width_bits"), [(9, 32), (1, 8), (64, 64)])
def test_a_block_ram_serves_kernel_and_host(
    simulator: str, depth: int, width_bits: int, tmp_path: Path
) -> None:
    storage = build_storage(block(depth, width_bits), (LoadUser(0),), (StoreUser(0),))
    settings: dict[str, int | str] = {"DEPTH": depth, "WIDTH": width_bits, "SEED": 11}
    run_bench(storage, "bench_memory", settings, simulator, tmp_path)


def test_the_bench_fails_a_memory_that_is_too_small(tmp_path: Path) -> None:
    settings: dict[str, int | str] = {"DEPTH": 32, "WIDTH": 8, "SEED": 11}
    storage = build_storage(block(16, 8), (LoadUser(0),), (StoreUser(0),))
    with pytest.raises(CocotbTestFailedError):
        run_bench(storage, "bench_memory", settings, "verilator", tmp_path)
