"""C of the program after a pass: to be read, compiled, and compared."""
