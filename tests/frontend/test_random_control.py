"""Random programs of loops that are left, and jumps of every kind, against gcc."""

from __future__ import annotations

import pytest

from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.random_control.programs import random_control

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

FEW = (*range(8), 1142, 1718)
MANY = range(8, 400)


@pytest.mark.parametrize("seed", FEW)
def test_a_random_program_is_as_gcc_has_it(seed: int) -> None:
    assert_as_gcc(random_control(seed), seed=seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, 14))
def test_many_random_programs_are(first: int) -> None:
    for seed in range(first, min(first + 14, MANY.stop)):
        assert_as_gcc(random_control(seed), seed=seed, runs=3)
