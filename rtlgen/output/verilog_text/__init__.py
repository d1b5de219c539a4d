"""Verilog text that an engineer would write: from Amaranth's netlist, without a tool between."""
