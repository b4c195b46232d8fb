"""The error of a fit with kernels of low rank, measured on a sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_outlier_detector

from ..estimators.check_inputs import take_examples
from ..kernels.features import LowRank
from ..kernels.rows import check_rows
from ..kernels.spec import as_spec, is_list
from ..kernels.view_data import n_examples
from .tables import check_model


@dataclass(frozen=True)
class ApproximationError:
    """The result of `approximation_error`: the fit of low rank compared with the exact fit on the same examples.

    Parameters
    ----------
    objectives : tuple of float
        The objective of each at its own optimum, low rank first.
    weights : array (M,) or (n_classes, M)
        The weights of low rank minus the exact weights.
    decisions : float
        The root mean square difference of the decisions on other examples, divided by the standard deviation of the
        exact decisions.
    scores : tuple of float, or None
        `score` of each on other examples; None if the estimator has no score.
    n, n_test : int
        The numbers of training and of test examples.
    gaps : tuple of float
        The duality gaps of both fits.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import ApproximationError
    >>> found = ApproximationError((1.1, 1.0), np.array([0.1]), 0.2, (0.88, 0.9), 100, 50, (1e-3, 1e-3))
    >>> round(found.objective, 3), round(found.score, 3)
    (0.1, -0.02)
    """

    objectives: tuple[float, float]
    weights: np.ndarray
    decisions: float
    scores: tuple[float, float] | None
    n: int
    n_test: int
    gaps: tuple[float, float]

    @property
    def objective(self) -> float:
        """The difference of the objectives, relative to the exact one."""
        return (self.objectives[0] - self.objectives[1]) / abs(self.objectives[1])

    @property
    def score(self) -> float | None:
        """The score of low rank minus the exact score."""
        return None if self.scores is None else self.scores[0] - self.scores[1]

    def __str__(self) -> str:
        lines = [
            f"low rank beside exact, {self.n} examples, {self.n_test} others tested",
            f"  objective  {self.objectives[0]:.5g} and {self.objectives[1]:.5g}, {self.objective:+.2%}",
            f"  weights    at most {np.abs(self.weights).max():.3f} apart",
            f"  decisions  {self.decisions:.3f} standard deviations apart (root mean square)",
        ]
        if self.scores is not None:
            lines.append(f"  score      {self.scores[0]:.4f} and {self.scores[1]:.4f}, {self.score:+.4f}")
        return "\n".join([*lines, f"  gaps       {self.gaps[0]:.1e} and {self.gaps[1]:.1e}"])


def approximation_error(model: Any, X: Any, y: Any = None, n: int = 2000, random_state: int = 0) -> ApproximationError:
    """The error of kernels of low rank, measured on a sample of the examples.

    Two clones of the model, one of them with exact kernels, are fitted to the same `n` examples; their decisions are
    compared on up to 2n other examples. The rank needed for the same accuracy grows slowly with the number of
    examples: the error on a sample is a lower bound of the error on all.

    Parameters
    ----------
    model : estimator
        With `approximation=` or with kernels `Nystroem` or `RandomFeatures`; fitted or not.
    X : data
    y : array (n_examples,), optional
        None for `MKLOneClass` only.
    n : int, default 2000
        The number of examples to fit, at most a third of all.
    random_state : int, default 0

    Returns
    -------
    ApproximationError

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import approximation_error
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> model = MKLClassifier([RBF(gamma=0.5)], approximation="rff", rank=64)
    >>> found = approximation_error(model, X, X[:, 0] > 0)
    >>> found.n, found.n_test, bool(found.decisions < 0.5)
    (30, 60, True)
    """
    check_model(model)
    plain = clone(model).set_params(checkpoint=None, warm_start=False)
    exact = clone(plain).set_params(approximation=None, kernels=_exact(plain.kernels))
    if model.approximation is None and repr(exact.kernels) == repr(plain.kernels):
        raise ValueError(
            "model has no kernels of low rank, so there is no error: give approximation='nystroem' or 'rff', or "
            "kernels such as Nystroem(RBF())."
        )
    check_rows(X, y=y)
    size = n_examples(X)
    n = min(n, max(size // 3, 2))
    order = np.random.default_rng(random_state).permutation(size)
    train, test = np.sort(order[:n]), np.sort(order[n : 3 * n])
    targets = [] if y is None else [np.asarray(y)[train]]
    fits = [twin.fit(take_examples(X, train), *targets) for twin in (plain, exact)]
    new = take_examples(X, test)
    values = [_decisions(twin, new) for twin in fits]
    spread = max(float(np.std(values[1])), 1e-300)
    scored = y is not None and not is_outlier_detector(model)
    low, full = fits
    return ApproximationError(
        (float(low.objective_), float(full.objective_)),
        low.kernel_weights_ - full.kernel_weights_,
        float(np.sqrt(np.mean((values[0] - values[1]) ** 2))) / spread,
        (float(low.score(new, np.asarray(y)[test])), float(full.score(new, np.asarray(y)[test]))) if scored else None,
        len(train),
        len(test),
        (float(low.duality_gap_), float(full.duality_gap_)),
    )


def _exact(kernels):
    """The exact kernels of kernels of low rank."""
    if not is_list(kernels):
        return kernels.kernel if isinstance(kernels, LowRank) else kernels
    specs = [as_spec(spec) if _is_low_rank(spec) else spec for spec in kernels]
    return [
        spec._replace(kernel=spec.kernel.kernel) if _is_low_rank(spec) else spec for spec in specs
    ]  # fmt: skip


def _is_low_rank(spec):
    return isinstance(spec, LowRank | tuple) and isinstance(as_spec(spec).kernel, LowRank)


def _decisions(model, X):
    decides = is_classifier(model) or is_outlier_detector(model)
    return np.asarray(model.decision_function(X) if decides else model.predict(X))
