"""The description of a block's registers."""

from __future__ import annotations

from dataclasses import replace

import pytest

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


def test_a_value_whose_lower_half_is_always_0_keeps_its_place() -> None:
    registers = made(values=(RegisterValue("BASE_A", 64, "rw", "", 32), VALUES[0]))
    assert not registers.has("BASE_A")
    assert registers.register("BASE_A_HIGH").offset % 8 == 4


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
    ],
)
def test_what_does_not_fit_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()  # type: ignore[operator]
