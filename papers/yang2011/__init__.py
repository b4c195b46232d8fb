"""Efficient sparse generalized multiple kernel learning."""
