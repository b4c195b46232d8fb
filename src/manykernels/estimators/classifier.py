"""Classification: two classes, one-vs-rest with weights per class, or one weight vector for all classes."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from .. import losses
from .._validation import check_choice, check_number
from ._base import MKLBase, _n_examples
from .inputs import check_y
from .tasks import check_classes_of_tasks, check_task
from .validation import check_loss, check_weight

if TYPE_CHECKING:
    from ..losses._base import Loss
    from ..regularizers._base import Regularizer
    from ..solvers._base import BaseSolver


def _has_probabilities(self):
    if losses.get(self.loss).probabilistic:
        return True
    raise AttributeError(f'predict_proba needs loss="logistic", not loss={self.loss!r}.')


class MKLClassifier(ClassifierMixin, MKLBase):
    """Learns a classifier and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Parameters
    ----------
    kernels : "auto", "precomputed", or a list of kernels, (name, kernel) or (name, kernel, columns)
        "precomputed": X is an (n, n_train, M) array or a KernelStack. Parameters of a named kernel and of the other
        parts have names for a search, `kernels__NAME__gamma`, `regularizer__p`, `loss__sigma`.
    regularizer : number p ≥ 1 (‖θ‖_p ≤ 1: 1 is sparse, np.inf the plain sum) or a member of `regularizers`:
        constraints LpNorm(p), WeightedLpNorm(p, weights), ElasticNet(v), MixedNorm(v, p), NonIsotropic(E),
        Ball(center, radius); penalties Entropy(lam), LpPenalty(p, mu), LpSum(p), BlockElasticNet(lam), Wedge();
        block norms BlockNorm(q), BlockSum(q); EmpiricalBayes(noise, prior), for the squared loss; weights
        found beforehand by Uniform(), BestSingle(cv), Align(), AlignF(), EasyMKL(lam), or given, Fixed(weights)
    loss : "hinge", "squared_hinge", "smooth_hinge", "logistic", "squared" (least squares on ±1), or a Loss
    C : factor of the loss, times sample_weight and class_weight
    normalize : "multiplicative" (unit variance in feature space), "spherical", "trace" or None
    slack : whether the identity is one kernel more, with a weight of its own, `slack_weight_`. What fits single
        training examples and tells nothing of others then has a place that is called so, and need not hide in the
        weights of nearly diagonal kernels; it is left out of `kernel_weights_` and of predictions. Needs kernels by
        pairs, and a regularizer that learns the weights and is the same for all of them
    solver : "auto", the name of a solver, or one of `solvers` with its parameters, such as Level(tau=0.9), or of your
        own, a `solvers.BaseSolver`
    features : whether kernels that have explicit features (those of strings, linear ones) are computed from them:
        "auto" where that pays, with many examples, and for solver="coordinate"; "never", always pair by pair; or
        always, their vectors kept in "map", "sorted", "trie" or "hash" (docs/sequences.md)
    tol : relative duality gap to reach (for EmpiricalBayes: `stationarity_`)
    max_iter : outer steps at most
    fit_intercept : whether there is a b
    class_weight : None, "balanced" or {class: weight}
    multi_class : "ovr" (weights per class) or "shared" (one weight vector for all classes)
    memory_limit : bytes for kernels, an integer or a string such as "4GB": blocks of them, copies of the columns that
        they see, matrices kept; a solver has one matrix of the examples that matter besides, and X is yours
    n_jobs : threads; None or -1 for all cores
    random_state : None (the same as 0: fits are deterministic), an integer, or a RandomState or Generator of
        numpy.random, for the order of the examples in solver "coordinate"; the other solvers draw nothing
    verbose : whether to show progress, with an estimate of the time left
    warm_start : whether fit begins from the last solution
    checkpoint : None, or the path of a file in which a long fit is kept while it runs. After a crash or `kill -9` the
        same fit, with the same path, goes on from there: solver "coordinate" to the same result bit by bit, the
        others from their best point, and classes that are solved, one-vs-rest, are not solved again. The same fit
        has the same data in the same form (strings in a list are not those in a pandas column, nor upper case lower
        case), the same kernels and the same parameters, but max_iter may be raised; the file of another is refused.
        A path is thus for one fit: in GridSearchCV or cross_val_score leave None, or the fits refuse each other's
        file. When the fit is done the file stays and fitting again returns its result at once; delete the file to
        begin anew. A write that fails during the fit is a RuntimeWarning: the fit goes on, and the file keeps its
        last state.

    Attributes
    ----------
    kernel_weights_ : θ (M,), or (n_classes, M) one-vs-rest; for a number p on the unit p-norm ball, so that they need
        not sum to 1: shares are θ / θ.sum()
    kernel_names_ : list of M names
    slack_weight_ : with slack=True its θ, or (n_classes,) one-vs-rest; θ of the kernels and this one together lie on
        the ball
    kernel_scale_ : (M,), what each kernel is multiplied with to be normalised, 0 for those left out; with
        normalize="spherical" k(x, y) is divided by √(k(x, x) k(y, y)) first
    duality_gap_ : relative, the largest over the classes
    objective_ : the primal above, the sum over the classes
    support_ : indices (n_support,) of the examples in `dual_coef_` (1 or n_classes, n_support), signed
    intercept_ : b (1 or n_classes,)
    history_ : one dict per outer step
    tasks_ : the tasks of the training data, where kernels are `multi_task`
    log_marginal_likelihood_, stationarity_, noise_ : with EmpiricalBayes, whose gap is NaN; the sum and the maximum
        over the classes, and σ², one-vs-rest (n_classes,)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        regularizer: float | Regularizer = 2,
        loss: str | Loss = "hinge",
        C: float = 1.0,
        normalize: str | None = "multiplicative",
        slack: bool = False,
        solver: str | BaseSolver = "auto",
        features: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        multi_class: str = "ovr",
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        warm_start: bool = False,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.kernels = kernels
        self.regularizer = regularizer
        self.loss = loss
        self.C = C
        self.normalize = normalize
        self.slack = slack
        self.solver = solver
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X and the labels y (n,), of the tasks `task` (n,) where kernels are `multi_task`."""
        self._check_params()
        check_number("C", self.C)
        check_choice("multi_class", self.multi_class, ("ovr", "shared"))
        loss = check_loss(self.loss, "binary", also=("squared",))
        y = check_y(self, y, numeric=False)
        check_classification_targets(y)
        X = self._check_X(X, reset=True)
        check_consistent_length(range(_n_examples(X)), y)
        weight = check_weight(sample_weight, len(y))
        task = check_task(task, len(y))

        self.classes_, codes = np.unique(y, return_inverse=True)
        present = np.bincount(codes, weight, len(self.classes_)) > 0
        if present.sum() < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[present].tolist()[0]!r}) among the examples with weight: "
                "a classifier needs at least two classes."
            )
        check_classes_of_tasks(task, y, weight)
        of_class = np.ones(len(self.classes_))
        of_class[present] = compute_class_weight(
            self.class_weight, classes=self.classes_[present], y=y[weight > 0], sample_weight=weight[weight > 0]
        )
        binary = len(self.classes_) == 2
        targets = np.arange(1, 2) if binary else np.arange(len(self.classes_))
        Y = np.where(codes == targets[:, None], 1.0, -1.0)
        joint = binary or self.multi_class == "shared"
        c = self.C * weight * of_class[codes]
        options = dict(C=self.C, intercept=self.fit_intercept, joint=joint, task=task)
        return self._fit(X, Y, weight, c, loss, **options)

    def decision_function(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x) + b: (n,) for two classes (positive: classes_[1]), else (n, n_classes)."""
        decision = self._decide(X, task)
        return decision[:, 0] if len(self.classes_) == 2 else decision

    def predict(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """The class of each example, (n,)."""
        decision = self._decide(X, task)
        binary = len(self.classes_) == 2
        return self.classes_[(decision[:, 0] > 0).astype(int) if binary else decision.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """1 / (1 + e^{-f}), normalised over the classes one-vs-rest; (n, n_classes). Needs loss="logistic"."""
        P = expit(self._decide(X, task))
        P = np.hstack([1 - P, P]) if len(self.classes_) == 2 else P
        return P / P.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> float:
        """The share of examples, by weight, whose class is right."""
        from sklearn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X, task), sample_weight=sample_weight)
