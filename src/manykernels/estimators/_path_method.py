"""The method `path` of estimators with C and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .path import fit_path

if TYPE_CHECKING:
    from .path import Path


class HasPath:
    """Adds `path` to an estimator."""

    def path(
        self,
        X: Any,
        y: Any,
        *,
        Cs: int | ArrayLike = 10,
        regularizer: Any = None,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        test: tuple[Any, Any] | None = None,
    ) -> Path:
        """The regularisation path: this estimator fitted at every C, for one or several regularizers.

        Kernels are computed once. Each fit starts from the solution at the next greater C and has its own duality gap.
        The estimator does not change, and its C has no effect.

        Parameters
        ----------
        X, y, sample_weight, task : as in fit
        Cs : the values of C, or their number: log-spaced from 0.01 to 100
        regularizer : None for that of the estimator, a regularizer, or a list such as [1, 4/3, 2]
        test : None, or (X, y) of other examples to score on

        Returns
        -------
        Path
            Arrays over regularizers and C, with `to_frame()` and `plot(ax)`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import RBF
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = MKLClassifier([RBF(gamma=g) for g in (0.01, 0.1, 1)], regularizer=1)
        >>> path = model.path(scale(X)[:200], y[:200], Cs=[0.1, 1, 10])
        >>> path.weights.shape, bool((path.duality_gap <= 1e-3).all())
        ((1, 3, 3), True)
        """
        return fit_path(self, X, y, Cs, regularizer, sample_weight, task, test)
