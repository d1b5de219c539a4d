"""Waves of a simulated circuit, read as instances of the C program."""
