"""What goes with a block of a system: the description of its registers, and its drivers."""
