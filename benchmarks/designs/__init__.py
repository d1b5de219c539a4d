"""The gate: what the compiler makes of some 200 programs, and a file that it is held to."""
