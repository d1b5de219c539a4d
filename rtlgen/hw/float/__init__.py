"""Operators of IEEE 754, parametric in exponent and fraction bits."""
