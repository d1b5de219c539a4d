"""Look for the designs of a program that are worth a choice: none is better in all its figures."""
