"""Random programs of loops that are left, and jumps of every kind."""
