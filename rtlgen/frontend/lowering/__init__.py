"""C to simpler C, of the same meaning: what the reader of statements need not know.

Each pass rewrites the syntax tree in place, and leaves a program that a C compiler takes.
"""
