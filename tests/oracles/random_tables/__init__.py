"""Random programs with constant tables, whose loops are unrolled."""
