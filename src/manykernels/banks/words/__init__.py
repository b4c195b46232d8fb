"""Banks of kernels that count words of sequences: their features are words, see `linadd`, `trie` and `degree`."""
