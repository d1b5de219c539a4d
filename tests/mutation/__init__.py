"""Mutation tests of the judges: one comparison, bound or constant changed at a time.

`make mutants` applies every mutant of every judge in `judges.toml` and runs the nearest tests. A
mutant that no test notices is a hole, or it is equivalent: it changes nothing that anybody can see.
Those stand in `equivalents.toml`, each with its reason, and nothing else may survive.
"""
