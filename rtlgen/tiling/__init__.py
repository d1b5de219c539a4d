"""Plans of programs whose arrays are off chip: in tiles."""
