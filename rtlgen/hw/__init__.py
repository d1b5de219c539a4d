"""Amaranth builders: a KernelPlan in, a circuit out. Nothing here knows the C program."""
