"""What the C texts of `rtlgen/frontend/text/math_library` are made from, and compared with.

`python -m tests.oracles.math_library` writes their tables anew.
"""
