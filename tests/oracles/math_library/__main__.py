"""Write the tables into the C texts."""

from __future__ import annotations

from tests.oracles.math_library.tables import FOLDER, TABLES, tables_of, with_tables

for name in TABLES:
    path = FOLDER / f"{name}.c"
    path.write_text(with_tables(path.read_text(), tables_of(name)))
    print(path.name)
