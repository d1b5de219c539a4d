"""Judges of a plan: what it does is worked out again, from the plan and the C program alone.

They know nothing of what chose the plan: see the contract in pyproject.toml.
"""
