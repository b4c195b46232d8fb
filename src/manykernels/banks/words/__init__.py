"""Banks of kernels that count words of sequences: their features are words, see `linadd`, `trie` and `degree`."""

from ... import strings  # noqa: F401  # first: it loads these banks, which need parts of it
