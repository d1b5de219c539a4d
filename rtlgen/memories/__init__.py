"""Arrays on chip: ports, banks, versions, copies, and what a circuit can tell of accesses."""
