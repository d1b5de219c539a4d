"""`rtlgen explain`."""

from __future__ import annotations

import click

from rtlgen.cli.errors import UnknownCode
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.errors import long_forms


def explain(verbosity: Verbosity, code: str | None, as_json: bool) -> None:
    """Print the long form of a diagnostic."""
    texts = long_forms()
    if code is None:
        summaries = {known: text.splitlines()[0] for known, text in texts.items()}
        if as_json:
            print_json(summaries)
        else:
            for known, summary in summaries.items():
                click.echo(f"{known}  {summary}")
        return
    wanted = code.upper().strip("[]")
    if wanted not in texts:
        raise UnknownCode(f"there is no diagnostic {code}", help="rtlgen explain lists them all")
    if as_json:
        print_json({"code": wanted, "text": texts[wanted]})
    else:
        click.echo(f"{wanted}: {texts[wanted]}")
