"""Random C programs as text, from a seed and nothing else, and what to ask of the compiler.

They are built from the features of the C subset rather than from the shapes of loop nests: helper
functions, local arrays and tables, scalars that branches merge, wrap counters, odd bounds, mixed
integer types, casts. Arrays have their extents first; each subscript is made to fit by what its
iterators are known to be. Nothing is undefined in C as `gcc -fwrapv` takes it.
"""
