"""What loops make of the scalars that they carry."""
