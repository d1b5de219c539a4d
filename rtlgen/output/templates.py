"""Templates of the texts that stand beside a circuit."""

from __future__ import annotations

from pathlib import Path

import jinja2


def templates_in(folder: Path, *, is_markup: bool = False) -> jinja2.Environment:
    """Return the templates of a folder, by file name; a name that nobody gives is an error.

    Parameters
    ----------
    is_markup: of pages, in which what is filled in is escaped.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=is_markup,
    )
