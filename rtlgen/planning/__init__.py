"""Which form of a program is built, of those whose arrays are all on chip."""
