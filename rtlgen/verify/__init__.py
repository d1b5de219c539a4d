"""Being sure: the golden model, random data, comparison, checksum and co-simulation."""
