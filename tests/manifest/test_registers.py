"""The description of a block's registers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.manifest.registers import (
    Field,
    Register,
    RegisterMap,
    RegisterValue,
    Window,
    register_map,
)

VALUES = (
    RegisterValue("SCALAR_n", 16, "rw", "argument n"),
    RegisterValue("BASE_A", 64, "rw", "address of A", 12),
    RegisterValue("RESULT", 32, "ro", "what the function returned"),
)
ARRAYS = (("small", 3, 1), ("large", 100, 4), ("wide", 5, 8))


def made(**changes: object) -> RegisterMap:
    given = {"name": "f", "version": "1.2.3", "values": VALUES, "arrays": ARRAYS, **changes}
    return register_map(**given)  # type: ignore[arg-type]


def test_control_has_the_places_and_bits_of_vitis() -> None:
    registers = made()
    offsets = {name: registers.register(name).offset for name in ("CTRL", "GIER", "IER", "ISR")}
    assert offsets == {"CTRL": 0, "GIER": 4, "IER": 8, "ISR": 12}
    bits = {field.name: field.low for field in registers.register("CTRL").fields}
    assert bits | {"START": 0, "DONE": 1, "IDLE": 2, "READY": 3, "RESTART": 7} == bits


def test_wide_values_have_two_registers_on_an_even_word() -> None:
    registers = made()
    low, high = registers.register("BASE_A"), registers.register("BASE_A_HIGH")
    assert low.offset % 8 == 0 and high.offset == low.offset + 4
    assert (low.fields[0].low, low.fields[0].width) == (12, 20)
    assert not registers.has("SCALAR_n_HIGH")


def test_the_upper_half_of_one_value_and_another_value_have_names_of_their_own() -> None:
    wide, other = (
        RegisterValue("SCALAR_x", 64, "rw", ""),
        RegisterValue("SCALAR_x_HIGH", 32, "rw", ""),
    )
    registers = made(values=(wide, other))
    assert [half.name for half in registers.halves("SCALAR_x")] == ["SCALAR_x", "SCALAR_x_HIGH"]
    assert [half.name for half in registers.halves("SCALAR_x_HIGH")] == ["SCALAR_x_HIGH_2"]
    turned = made(values=(other, wide))
    assert [half.name for half in turned.halves("SCALAR_x")] == ["SCALAR_x_2", "SCALAR_x_2_HIGH"]


NAMES = st.lists(
    st.sampled_from(("x", "y", "_", "CTRL", "ID")).flatmap(
        lambda stem: st.sampled_from(("", "_HIGH", "_2", "_HIGH_2", "_HIGH_HIGH", "_VALUE")).map(
            lambda tail: stem + tail
        )
    ).flatmap(lambda name: st.sampled_from((name, name.swapcase()))),
    unique=True,
    max_size=12,
)  # fmt: skip


@given(NAMES, st.data())
def test_whatever_the_names_every_value_has_registers_of_its_own(
    names: list[str], data: st.DataObject
) -> None:
    values = tuple(
        RegisterValue(f"{kind}_{name}", data.draw(st.sampled_from((8, 32, 40, 64))), "rw", "")
        for kind in ("SCALAR", "BASE")
        for name in names
    )
    registers = made(values=values)
    seen: set[str] = set()
    for value in values:
        halves = registers.halves(value.name)
        assert sum(half.fields[0].width for half in halves) == value.width
        assert [half.offset - halves[0].offset for half in halves] == [0, 4][: len(halves)]
        assert not seen & {half.name.upper() for half in halves}
        seen |= {half.name.upper() for half in halves}
        assert all(half.name.isidentifier() for half in halves)


def test_windows_are_on_multiples_of_their_size_and_apart() -> None:
    windows = {window.array: window for window in made().windows}
    assert {name: window.size for name, window in windows.items()} == {
        "small": 4,
        "large": 512,
        "wide": 64,
    }
    assert all(window.offset % window.size == 0 for window in windows.values())
    last = max(register.offset for register in made().registers)
    assert min(window.offset for window in windows.values()) > last
    assert made().bytes == 1024 and made().address_bits == 10


@pytest.mark.parametrize(
    "changes",
    [
        {"values": VALUES[1:]},
        {"values": (replace(VALUES[0], width=8), *VALUES[1:])},
        {"arrays": ARRAYS[1:]},
        {"arrays": (("small", 4, 1), *ARRAYS[1:])},
    ],
)
def test_another_map_has_another_signature(changes: dict[str, object]) -> None:
    assert made().signature_value == made().signature_value
    assert made(**changes).signature_value != made().signature_value


def test_version_is_three_numbers() -> None:
    assert made().register("VERSION").fields[0].reset == 0x01020003


BITS = (Field("A", 0, 4, "rw", ""), Field("B", 3, 1, "rw", ""))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Field("A", 30, 3, "rw", ""), "bits 30 to 32"),
        (lambda: Register("R", 2, (), ""), "at byte 2"),
        (lambda: Register("R", 0, BITS, ""), "two fields at bit 3"),
        (lambda: Window("A", 4, 3, 4), "at byte 4"),
        (
            lambda: RegisterMap("f", (Register("R", 0, (), ""), Register("S", 0, (), "")), ()),
            "two things of f are at byte 0",
        ),
        (
            lambda: RegisterMap("f", (Register("R", 0, (), ""), Register("R", 4, (), "")), ()),
            "share a name",
        ),
        (
            lambda: RegisterMap("f", (Register("R", 0, (), ""), Register("r", 4, (), "")), ()),
            "share a name",
        ),
        (lambda: RegisterValue("BASE_A", 64, "rw", "", 32), "bits 32 to 63"),
        (lambda: RegisterValue("RESULT", 65, "ro", ""), "bits 0 to 64"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()  # type: ignore[operator]
