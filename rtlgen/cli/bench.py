"""`rtlgen bench`."""

import click


@click.command()
def bench() -> None:
    """Reproduce one published table beside this project's own figures."""
