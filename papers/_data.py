"""Real data from the folder that the user names; bundled or generated sets where there is none."""

import gzip
import tomllib
from functools import cache
from pathlib import Path

import numpy as np

# file: what it is, and where it can be had
SOURCES = {
    "mnist.npz": "MNIST: X_train (60000, 784), y_train, X_test, y_test; from any copy of the IDX files",
    "splice_C_elegans_acc_100000.fasta.bz2": "acceptor sites of C. elegans, shogun-data easysvm/C_elegans_acc_100000",
    "splice_C_elegans_acc_modsel.fasta.bz2": "acceptor sites of C. elegans, shogun-data easysvm/C_elegans_acc_modsel",
    "promoter_human_300_gue_devtest.tsv.gz": "human promoters, GUE prom_300_all, dev and test: split, sequence, label",
    "protein_subloc_multiloc.tsv.gz": "MultiLoc sequences, KohlbacherLab/MultiLoc2 data/datasets/multiloc",
    "kernels_drugtarget_nr.npz": "nuclear receptors, kernels of KronRLS-MKL: Y, drugs__NAME, proteins__NAME",
    "kernels_drugtarget_ic.npz": "ion channels, kernels of KronRLS-MKL",
    "kernels_drugtarget_e.npz": "enzymes, kernels of KronRLS-MKL",
    "uci_NAME.npz": "UCI sets X, y = ±1: ionosphere, sonar, pima, statlog heart, bupa, wdbc, wpbc, wisconsin",
    "text_20newsgroups_bydate.jsonl.xz": "20 newsgroups by date, headers kept: split, group, id, text",
    "text_20newsgroups_rec4.jsonl.gz": "its four groups rec.autos, motorcycles, sport.baseball, sport.hockey",
    "text_ohsumed23_1991.jsonl.xz": "Ohsumed, first 20,000 abstracts of 1991: split, id, categories, text",
    "mv_mfeat_digits.npz": "UCI multiple features of digits: fou, fac, kar, pix, zer, mor, y",
}


@cache
def tables(module):
    """What tables.toml beside an experiment says of it: numbers of the print, and the fits that stand beside them."""
    paper, name = module.split(".")[-2:]
    return tomllib.loads((Path(__file__).parent / paper / "tables.toml").read_text(encoding="utf-8"))[name]


class Data:
    """The folder of real data, or none."""

    def __init__(self, folder=None):
        self.folder, self.missed = None if folder is None else Path(folder), []
        if self.folder is not None and not self.folder.is_dir():
            raise SystemExit(f"--data {folder}: there is no such folder. Leave it out to run on generated data.")

    def find(self, name):
        """The path of a file, or None; one that the folder lacks is said on the screen."""
        path = self.folder and self.folder / name
        if path and path.exists():
            return path
        if self.folder and name not in self.missed:
            self.missed.append(name)
            what = SOURCES.get(name, "real data")
            print(f"  {name} is not in --data or MANYKERNELS_DATA ({what}): a bundled or generated set in its place")
        return None

    def arrays(self, name):
        """The arrays of an .npz file as a dict, or None."""
        path = self.find(name)
        if path is None:
            return None
        with np.load(path, allow_pickle=False) as held:
            return dict(held)

    def table(self, name, *columns):
        """Columns of a .tsv.gz file as lists, or None."""
        path = self.find(name)
        if path is None:
            return None
        with gzip.open(path, "rt") as file:
            head, *lines = (line.rstrip("\n").split("\t") for line in file)
        return [[line[head.index(column)] for line in lines] for column in columns]
