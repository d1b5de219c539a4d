"""Formal proofs of small parts, by yosys' SMT back end and a solver; see `prove`."""
