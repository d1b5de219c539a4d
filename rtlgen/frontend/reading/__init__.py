"""Declarations and expressions of C: types, names, values, elements, what reaches them."""
