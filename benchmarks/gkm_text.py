"""python -m benchmarks.gkm_text --data DIR [--rows 800]: a default `gkm train` on three public sets writes a text model
for gkmpredict, and a scorer that knows the formulas of LS-GKM alone gives the scores of `gkm predict`."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .gkm import SETS
from .lsgkm_scorer import scores
from .sequences import table

NEW = 100  # sequences that are scored


def main(data, rows):
    for name, file in SETS.items():
        texts, labels = table(data, file, "sequence", "label")
        some = np.random.default_rng(0).permutation([i for i, text in enumerate(texts) if set(text) <= set("ACGT")])
        train, new = some[:rows], some[rows : rows + NEW]
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            sides = {"pos": [i for i in train if int(labels[i]) > 0], "neg": [i for i in train if int(labels[i]) <= 0]}
            for part, own in (sides | {"new": new}).items():
                (place / f"{part}.fa").write_text("".join(f">{i}\n{texts[i]}\n" for i in own))
            command = [sys.executable, "-m", "manykernels", "gkm"]
            given = ["train", "pos.fa", "neg.fa", "m"]
            run = subprocess.run([*command, *given], cwd=place, capture_output=True, text=True)
            if not (place / "m.model.txt").exists():
                print(f"{name}: no text model: {run.stderr}")
                continue
            subprocess.run([*command, "predict", "-q", "new.fa", "m.model.mk", "out"], cwd=place, check=True)
            ours = np.array([float(line.split("\t")[1]) for line in (place / "out").read_text().splitlines()])
            theirs = scores(place / "m.model.txt", [texts[i] for i in new])
        far = np.abs(ours - theirs).max()
        print(f"{name}: {rows} sequences, {NEW} scores, largest difference {far:.1e}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--rows", type=int, default=800)
    main(**vars(parser.parse_args()))
