"""What a flow is: its name, and the texts that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of others.

    Members
    -------
    help: what its files are, in a sentence. command: how they are used, in the build directory;
        NAME is the kernel.
    templates: by file, the template of its text; {name} is the kernel.
    """

    name: str
    help: str
    command: str
    templates: Mapping[str, str]

    def file_names(self, kernel: str) -> tuple[str, ...]:
        """Return the files of the flow, in order."""
        return tuple(file.format(name=kernel) for file in self.templates)
