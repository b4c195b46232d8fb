"""MKLpy (torch, cvxopt): each of its methods finds weights by a criterion of its own; then SVC fits the predictor.

None of them solves the problem of `objective.py`. To be fair their weights are put on the p-ball before SVC is fitted,
which is the best scaling for the objective.
"""

import contextlib
import io

import numpy as np

from ..objective import Result
from ._base import Solver, svc


class MKLpy(Solver):
    """A method of MKLpy by class name; `options` go to its constructor, `tolerances` are numbers of steps."""

    needs = ("MKLpy", "torch", "cvxopt")
    solves = False

    def __init__(self, method, note, steps=(None,), most_examples=10**9, **options):
        self.name, self.method, self.note, self.options = f"MKLpy {method} + SVC", method, note, options
        self.tolerances, self.most_examples = steps, most_examples

    def prepare(self, S, y):
        import torch

        return [torch.from_numpy(K.astype(np.float64)) for K in S], S, y

    def learn(self, data, tol):
        import torch
        from MKLpy import algorithms
        from sklearn.svm import SVC

        kernels, _, y = data
        options = dict(self.options, learner=SVC(C=1.0)) | ({} if tol is None else {"max_iter": tol})
        model = getattr(algorithms, self.method)(**options)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does
            theta = np.asarray(model.combine_kernels(kernels, torch.from_numpy(y)).weights, float)
        return np.maximum(theta, 0)

    def run(self, data, learned, p, C, tol):
        _, S, y = data
        theta = learned / np.linalg.norm(learned, p)
        a, b = svc(np.tensordot(theta.astype(S.dtype), S, 1), y, C)
        return Result(theta, a, b)


MKLPY = [
    MKLpy("EasyMKL", "weights that maximise a regularised margin between the classes: one QP", lam=0.1),
    MKLpy("AverageMKL", "equal weights"),
    MKLpy("CKA", "weights by centred kernel alignment (negative ones cut to 0)", most_examples=500),
    MKLpy("PWMK", "weights from the cross-validated accuracy of each kernel alone"),
    MKLpy("FHeuristic", "weights from the alignment of each kernel alone"),
    MKLpy("MEMO", "margin and margin variance, gradient steps", steps=(10, 100)),
    MKLpy("GRAM", "radius over margin, gradient steps", steps=(10, 100), most_examples=500),
    MKLpy("RMKL", "radius over margin, gradient steps", steps=(10, 100), most_examples=500),
]
