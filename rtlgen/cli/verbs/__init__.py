"""What the verbs do: a function of its name for each; see `rtlgen.cli.interface`."""
