"""Programs to programs: passes over a Scop, each proven to leave every instance as it was."""
