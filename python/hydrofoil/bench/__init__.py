"""Benchmarks of API servers: every answer is checked, and every object is removed again."""
