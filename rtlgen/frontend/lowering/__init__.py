"""Passes that rewrite the syntax tree from C to simpler C of the same meaning."""
