"""Circuits of IEEE 754."""
