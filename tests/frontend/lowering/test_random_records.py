"""Random programs of structures and pointers mean what a C compiler makes of them."""

from __future__ import annotations

import pytest

from tests.frontend.lowering.c_check import assert_as_c
from tests.frontend.lowering.random_records import random_program
from tests.oracles.gcc_oracle import have_gcc

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_c_compiler_makes_of_it(seed: int) -> None:
    assert_as_c(random_program(seed))


@pytest.mark.long
@pytest.mark.parametrize("first", range(3, 203, 10))
def test_so_are_many(first: int) -> None:
    for seed in range(first, first + 10):
        assert_as_c(random_program(seed))
