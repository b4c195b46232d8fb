"""Smooth optimization for effective multiple kernel learning."""
