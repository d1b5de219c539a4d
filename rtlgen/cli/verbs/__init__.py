"""What the verbs do: one a module, with a function of the same name; see `rtlgen.cli.interface`."""
