"""Random inputs cover the range of every type and are the same everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from rtlgen.ir.expr import Constant, ScalarParameter
from rtlgen.ir.scop import ScalarArgument, StatementNode
from rtlgen.ir.types import INT32, IntType
from rtlgen.verify.data import random_elements, random_inputs
from rtlgen.verify.values import element_dtype
from tests.oracles.scops import HERE, access, array, scop

ALL_TYPES = [IntType(width, signed) for width in (8, 16, 32, 64) for signed in (True, False)]


@pytest.mark.parametrize("element", ALL_TYPES, ids=str)
def test_every_corner_of_a_type_comes_up_among_values_of_every_magnitude(element: IntType) -> None:
    values = random_elements(element, (64, 32), 7, "A")
    assert values.dtype == element_dtype(element)
    assert values.shape == (64, 32)
    found = set(values.reshape(-1).tolist())
    assert {element.minimum, element.maximum, 0, 1, element.wrap(-1)} <= found
    span = element.maximum - element.minimum
    assert (
        np.histogram([(value - element.minimum) / span for value in found], bins=8, range=(0, 1))[
            0
        ].min()
        > 0
    )


def test_every_bit_of_an_element_is_sometimes_set_and_sometimes_clear() -> None:
    values = random_elements(IntType(64, False), (1000,), 1, "A").astype(np.uint64)
    for bit in range(64):
        share = float((values >> np.uint64(bit) & np.uint64(1)).mean())
        assert 0.3 < share < 0.7


def test_a_seed_gives_the_same_bytes_on_every_machine() -> None:
    """The digest pins the stream: a change of it would change every recorded checksum."""
    values = random_elements(INT32, (4, 5), 42, "A")
    digest = hashlib.sha256(values.astype("<i4").tobytes()).hexdigest()
    assert digest.startswith("950b7de315b546dd")


def test_seed_name_and_shape_all_matter() -> None:
    drawn = [
        random_elements(INT32, (30,), 1, "A").tolist(),
        random_elements(INT32, (30,), 2, "A").tolist(),
        random_elements(INT32, (30,), 1, "B").tolist(),
        random_elements(INT32, (31,), 1, "A").tolist()[:30],
    ]
    assert len({tuple(values) for values in drawn}) == len(drawn)


def test_inputs_are_all_visible_arrays_and_scalars() -> None:
    arrays = [
        array("A", (3,), "in"),
        array("B", (2, 2), "out", IntType(8, False)),
        array("g", ()),
        array("t", (4,), "local"),
    ]
    body = {"S0": (access("g"), (), ScalarParameter("n", INT32))}
    program = scop(arrays, [StatementNode("S0")], body, [ScalarArgument("n", INT32, HERE)])
    inputs = random_inputs(program, 3)
    assert list(inputs) == ["A", "B", "g", "n"]
    assert isinstance(inputs["n"], int)
    assert np.asarray(inputs["B"]).any()
    assert np.asarray(inputs["g"]).shape == ()


def test_an_array_keeps_its_contents_when_another_is_added() -> None:
    body = {"S0": (access("A", 0), (), Constant(1, INT32))}
    alone = scop([array("A", (3,))], [StatementNode("S0")], body)
    joined = scop([array("Z", (9,)), array("A", (3,))], [StatementNode("S0")], body)
    first, second = (random_inputs(program, 5)["A"] for program in (alone, joined))
    assert np.array_equal(np.asarray(first), np.asarray(second))
