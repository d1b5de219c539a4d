"""Measurements that are stored: `python -m benchmarks` takes them all again."""
