"""Affine C loop nests to Verilog, one iteration a clock cycle, proven equal."""
