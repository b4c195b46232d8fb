"""The pictures of docs/genome.md: the letters of a peak, the logos of the motifs, the effects of variants."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLClassifier, inspect
from manykernels.datasets import make_genome
from manykernels.genome import score_variants, training_set
from manykernels.strings import Spectrum

here = Path(__file__).parent
with tempfile.TemporaryDirectory() as folder:
    genome = make_genome(folder)
    data = training_set(genome.peaks, genome.reference, width=101)
    kernels = [(f"{k}-mers", Spectrum(k, reverse_complement=True)) for k in (4, 6)]
    model = MKLClassifier(kernels, C=1.0, normalize="spherical").fit(data.X, data.y)
    scores = score_variants(model, genome.variants, genome.reference)
explanation = inspect.explain_sequences(model, data.positives.sequences)
ax = explanation.plot(0, start=20, stop=90)
ax.figure.savefig(here / "genome_letters.png", dpi=110)
inspect.find_motifs(explanation).plot()[0, 0].figure.savefig(here / "genome_motifs.png", dpi=110)
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
broken = np.char.startswith(scores["id"], "broken")
edges = np.linspace(scores["delta"].min(), scores["delta"].max(), 40)
for rows, name, colour in ((broken, "break a motif", "#D55E00"), (~broken, "outside motifs", "#0072B2")):
    ax.hist(scores["delta"][rows], edges, label=name, color=colour, alpha=0.8)
ax.set(xlabel="delta: change of the score", ylabel="variants")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
figure.savefig(here / "genome_variants.png", dpi=110)
