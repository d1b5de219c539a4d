"""Statements as pipelines: operators, latencies, the distances that these ask for, shared units."""
