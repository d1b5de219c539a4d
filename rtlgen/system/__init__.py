"""What rtlgen takes from its machine: files, memory, other programs, a folder for caches."""
