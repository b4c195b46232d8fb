"""What each letter of a sequence contributes, by two kernels: the last picture of docs/sequences.md."""

from pathlib import Path

import numpy as np

from manykernels import MKLClassifier, inspect, strings

rng = np.random.default_rng(0)
Z, t = rng.choice(list("ACGT"), (400, 60)), np.arange(400) % 2
for z in Z[1::2]:  # half of the sequences get a motif, somewhere
    p = rng.integers(5, 45)
    z[p : p + 7] = list("TGACTCA")
Z = ["".join(z) for z in Z]
kernels = [("gapped words", strings.GappedKmer(6, 4, reverse_complement=True)), ("words of 3", strings.Spectrum(3))]
model = MKLClassifier(kernels, C=1.0, regularizer=2, normalize="spherical").fit(Z[:300], t[:300])
axes = inspect.explain_sequences(model, Z[300:], "gkmexplain", mode=1, by_kernel=True).plot(1)
axes[0].figure.savefig(Path(__file__).parent / "sequence_letters.png", dpi=110)
