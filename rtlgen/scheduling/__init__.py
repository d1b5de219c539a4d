"""A program as one fused loop or several: nests chosen, issue cycles, streams of a plan."""
