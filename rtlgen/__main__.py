"""`python -m rtlgen` is `rtlgen`."""

from rtlgen.cli import main

main()
