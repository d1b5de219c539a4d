"""The circuits against `ir.float_arithmetic`: every pair of operands in formats of up to 8 bits."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, FloatType, IntType
from rtlgen.sim.verilator import OPTIMISATION, UNOPTIMISED
from tests.hw.float.host import Host
from tests.hw.float.operands import drawn
from tests.hw.float.streamed import Bank, Case
from tests.oracles.softfloat import SoftFloat

_KEPT = [FloatType(2, 3), FloatType(3, 2), FloatType(4, 3), FloatType(5, 2)]
SMALL = [*_KEPT, *(type_.without_subnormals for type_ in _KEPT)]
TINY = FloatType(3, 2)
"""Of which all triples are 262,144."""

INTEGERS = [IntType(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)]

ARITHMETIC = [op for op in get_args(FloatOp) if op not in ("neg", "abs", "copysign", "fma")]


def cases_of(type_: FloatType, others: list[FloatType], integers: list[IntType]) -> list[Case]:
    """Return everything that there is a circuit for, fma excepted."""
    found = []
    for op in ARITHMETIC:
        if op == "from_int":
            found += [Case(op, integer, type_) for integer in integers]
        elif op == "to_int":
            found += [Case(op, type_, integer) for integer in integers]
        elif op == "convert":
            found += [Case(op, type_, other) for other in others if other != type_]
        else:
            found.append(Case(op, type_, INT32 if op in ("lt", "le", "eq") else type_))
    return found


def expected(case: Case, samples: np.ndarray) -> list[int]:
    """Return what `ir.float_arithmetic` says of samples of three patterns, a row each."""
    mask = (1 << case.of.width_bits) - 1
    found, known = [], {}
    for row in samples[:, : case.operands].tolist():
        given = tuple(case.of.wrap(word & mask) for word in row)
        if given not in known:
            known[given] = evaluate(case.op, given, case.of, case.to)
        found.append(known[given] & ((1 << case.to.width_bits) - 1))
    return found


def first_difference(case: Case, samples: np.ndarray, got: np.ndarray, wanted: np.ndarray) -> str:
    """Return where results differ; "" where they do not."""
    (places,) = np.nonzero(got != wanted)
    if len(places) == 0:
        return ""
    n = int(places[0])
    operands = ", ".join(f"{word:#x}" for word in samples[n, : case.operands].tolist())
    return f"{case} of {operands}: {got[n]:#x} instead of {wanted[n]:#x}; {len(places)} in all"


def test_all_roots_where_the_smallest_is_near_the_normal_ones(tmp_path: Path) -> None:
    formats = [FloatType(3, 2), FloatType(3, 3), FloatType(4, 4), FloatType(4, 5), FloatType(4, 6)]
    cases = [Case("sqrt", type_, type_) for type_ in formats]
    bank = Bank(cases, tmp_path)
    patterns = [(word, 0, 0) for word in range(1 << max(t.width_bits for t in formats))]
    samples = np.array(patterns, dtype=np.uint64)
    for case, got in zip(cases, bank.run(samples), strict=True):
        own = samples[:, 0] < 1 << case.of.width_bits
        wanted = np.array(expected(case, samples[own]), dtype=np.uint64)
        assert not first_difference(case, samples[own], got[own], wanted)


@pytest.mark.sample("float2_3", "float3_2z")
@pytest.mark.parametrize("type_", SMALL, ids=str)
def test_all_pairs_of_operands_of_a_small_format(type_: FloatType, tmp_path: Path) -> None:
    others = [*_KEPT, FLOAT16]
    if not type_.subnormals:
        others = [other.without_subnormals for other in others]
    cases = cases_of(type_, others, INTEGERS[:2])
    bank = Bank(cases, tmp_path)
    values = range(1 << max(8, type_.width_bits))
    pairs = [(a, b, 0) for a, b in product(values, range(1 << type_.width_bits))]
    samples = np.array(pairs, dtype=np.uint64)
    mask = np.uint64((1 << type_.width_bits) - 1)
    for case, got in zip(cases, bank.run(samples), strict=True):
        chosen = samples[:, 1] == 0 if case.operands == 1 else samples[:, 0] <= mask
        wanted = np.array(expected(case, samples[chosen]), dtype=np.uint64)
        assert not first_difference(case, samples[chosen], got[chosen], wanted)


@pytest.mark.long
@pytest.mark.parametrize("type_", [TINY, TINY.without_subnormals], ids=str)
def test_all_triples_of_operands_of_a_tiny_format(type_: FloatType, tmp_path: Path) -> None:
    case = Case("fma", type_, type_)
    samples = np.array(list(product(range(1 << TINY.width_bits), repeat=3)), dtype=np.uint64)
    (got,) = Bank([case], tmp_path).run(samples)[:1]
    wanted = np.array(expected(case, samples), dtype=np.uint64)
    assert not first_difference(case, samples, got, wanted)


@pytest.mark.long
@pytest.mark.parametrize("type_", [FLOAT16, BFLOAT16], ids=str)
def test_drawn_operands_of_half_formats(type_: FloatType, tmp_path: Path) -> None:
    cases = cases_of(type_, [FLOAT16, BFLOAT16, FLOAT32, FLOAT64], INTEGERS)
    cases.append(Case("fma", type_, type_))
    samples = drawn(type_, 3_000, np.random.default_rng(type_.width_bits))
    bank = Bank(cases, tmp_path)
    for case, got in zip(cases, bank.run(samples), strict=True):
        wanted = np.array(expected(case, samples), dtype=np.uint64)
        assert not first_difference(case, samples, got, wanted)


def compared_with_others(type_: FloatType, count: int, times: int, folder: Path) -> None:
    """Compare all circuits of a format with SoftFloat, with the host's arithmetic, and ours."""
    others = [FLOAT16, FLOAT32, FLOAT64]
    if not type_.subnormals:
        others = [other.without_subnormals for other in others]
    cases = [*cases_of(type_, others, INTEGERS), Case("fma", type_, type_)]
    bank = Bank(cases, folder, OPTIMISATION if times > 1 else UNOPTIMISED)
    host, soft = Host(folder), SoftFloat(folder)
    judged_by_softfloat = set()
    for seed in range(times):
        samples = drawn(type_, count, np.random.default_rng(seed))
        for case, got in zip(cases, bank.run(samples), strict=True):
            given = samples
            if isinstance(case.of, IntType):
                given = samples & np.uint64((1 << case.of.width_bits) - 1)
            wanted = host.results(case, given)
            assert not first_difference(case, samples, got, wanted), seed
            own = np.array(expected(case, given[:1000]), dtype=np.uint64)
            assert not first_difference(case, samples, own, wanted[:1000]), seed
            judged = soft.results(case.op, case.of, case.to, given)
            if judged is not None:
                results, known = judged
                assert known.sum() > count // 20
                assert not first_difference(case, samples[known], got[known], results[known]), seed
                judged_by_softfloat.add(case.op)
    if type_.subnormals:
        assert judged_by_softfloat == {case.op for case in cases} - {"min", "max"}


@pytest.mark.parametrize("type_", [FLOAT32, FLOAT64], ids=str)
def test_drawn_operands_of_float_and_double(type_: FloatType, tmp_path: Path) -> None:
    compared_with_others(type_, 100_000, 1, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("type_", [FLOAT32, FLOAT64], ids=str)
def test_many_drawn_operands_of_float_and_double(type_: FloatType, tmp_path: Path) -> None:
    compared_with_others(type_, 500_000, 20, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("type_", [FLOAT32, FLOAT64], ids=str)
def test_drawn_operands_where_subnormals_are_zeros(type_: FloatType, tmp_path: Path) -> None:
    compared_with_others(type_.without_subnormals, 500_000, 2, tmp_path)
