"""Ours and every peer on the same problem, judged by the same objective; see README.md."""
