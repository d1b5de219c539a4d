"""Random programs of structures and pointers mean what a C compiler makes of them."""

from __future__ import annotations

import pytest

from tests.frontend.lowering import random_pointers, random_records
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


GENERATORS = {
    "structures": random_records.random_program,
    "pointers": random_pointers.random_program,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", GENERATORS)
def test_it_is_what_a_c_compiler_makes_of_it(kind: str, seed: int) -> None:
    assert_as_c(GENERATORS[kind](seed))


@pytest.mark.long
@pytest.mark.parametrize("first", range(3, 203, 10))
@pytest.mark.parametrize("kind", GENERATORS)
def test_so_are_many(kind: str, first: int) -> None:
    for seed in range(first, first + 10):
        assert_as_c(GENERATORS[kind](seed))
