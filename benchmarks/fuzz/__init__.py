"""Random small fits of every kind, judged by a certificate that is recomputed from the model: see `__main__`."""

BAD = ("signal", "crash", "slow", "dishonest", "inconsistent", "wrong", "leak")
