"""Statements of C to the statements and the loop tree of a Scop."""
