"""Classification: two classes, several, or labels that may hold together; weights for each of them or for all."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length

from .. import losses, regularizers
from .._validation import check_choice, check_number, shown
from ..kernels.view_data import n_examples
from ..streaming import is_source
from ._available import available_if
from ._path_method import HasPath
from .base import MKLBase
from .calibration import learn_sigmoids
from .check_inputs import check_order
from .check_targets import check_loss, check_weight
from .outputs import check_multilabel, choose_multi_class, probabilities, read_labels
from .plan import Examples
from .posterior import posterior_variance
from .streamed import fit_source
from .tasks import check_classes_of_tasks, check_task
from .tensors import to_host

if TYPE_CHECKING:
    from ..losses.base import Loss
    from ..regularizers.base import Regularizer
    from ..solvers.base import BaseSolver


def _has_probabilities(self):
    if self.calibrate is not None or losses.get(self.loss).probabilistic or regularizers.get(self.regularizer).bayesian:
        return
    raise AttributeError(
        'predict_proba and predict_log_proba need loss="logistic" or regularizer=EmpiricalBayes(...), not '
        f'loss={self.loss!r}: for other losses give calibrate="sigmoid", or scikit-learn\'s '
        "CalibratedClassifierCV(model), which learn probabilities from decisions."
    )


class MKLClassifier(ClassifierMixin, HasPath, MKLBase):
    """Learns a classifier and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    y_i is ±1 in V, z = y_i f(x_i) below.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, default "auto"
        Each a kernel, (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing); a transformer may
        stand before the kernel. "auto": of an array or a frame RBF and Laplacian kernels of several
        widths on all numbers, an RBF kernel on each column of them, and kernels that suit categories and texts, as on
        the command line; a few on each of several views (`kernels.auto_kernels`); `kernels_chosen_` says which.
        "precomputed": X is an (n, n_train, M) array or a `KernelStack`.
        Parameters of a named kernel and of the other parts have names for a search, `kernels__NAME__gamma`,
        `regularizer__p`, `solver__tau`.
    regularizer : float or Regularizer, default 2
        A number p ≥ 1 is ‖θ‖_p ≤ 1: 1 is sparse, np.inf the plain sum. Else a member of `regularizers`: constraints
        LpNorm(p), WeightedLpNorm(p, weights), ElasticNet(v), MixedNorm(v, p), NonIsotropic(E), Ball(center, radius);
        penalties Entropy(lam), LpPenalty(p, mu), LpSum(p), BlockElasticNet(lam), Wedge(); block norms BlockNorm(q),
        BlockSum(q), Separable(g); EmpiricalBayes(noise, prior), for the squared loss; weights found beforehand by
        Uniform(), BestSingle(cv), Align(), AlignF(), EasyMKL(lam), or given, Fixed(weights).
    loss : str or Loss, default "hinge"
        "hinge" max(0, 1 − z), "squared_hinge" max(0, 1 − z)² (no ½), "smooth_hinge" (1/σ) ln(1 + e^(σ(1 − z))), σ = 10,
        "logistic" ln(1 + e^(−z)), "squared" (1 − z)² (no ½), least squares on ±1; or a `Loss`, SmoothHinge(sigma) say.
    C : float, default 1.0
        Factor of the loss, times sample_weight and class_weight.
    normalize : "multiplicative", "spherical", "trace" or None, default "multiplicative"
        Unit variance in feature space; k(x, x) = 1 for every example; k(x, x) = 1 on average; or kernels as they are.
        `Constant` and `Identity` are left as they are by all four.
    slack : bool, default False
        Whether the identity is one kernel more, with a weight of its own, `slack_weight_`. What fits single training
        examples and tells nothing of others then has a place that is called so, and need not hide in the weights of
        nearly diagonal kernels; it is left out of `kernel_weights_` and of predictions. Needs kernels by pairs, and a
        regularizer that learns the weights and is the same for all of them.
    solver : str or BaseSolver, default "auto"
        "auto", the fastest exact one that takes the problem; the name of a solver; or one of `solvers` with its
        parameters, such as Level(tau=0.9), or of your own, a `solvers.BaseSolver`.
    psd : "warn", "clip", "shift" or "error", default "warn"
        What is done about precomputed kernels that are not positive semidefinite: "clip" sets negative eigenvalues to
        0, "shift" adds the size of the least one to the diagonal, "error" refuses them (docs/precomputed.md).
    features : str, default "auto"
        Whether kernels that have explicit features (those of strings, linear ones) are computed from them: "auto" where
        that pays, with many examples, and for solver="coordinate"; "never", always pair by pair; or always, their
        vectors kept in "map", "sorted", "trie" or "hash" (docs/sequences.md).
    approximation : "nystroem", "rff" or None, default None
        Kernels by others of low rank, with which a fit is linear in the number of examples: each of `kernels` that has
        no few features of its own stands as `Nystroem(kernel, rank)`, by landmarks, or as `RandomFeatures(kernel,
        rank)`, random Fourier features, for RBF and Laplacian. `duality_gap_` is then that of the approximated problem;
        `inspect.approximation_error` measures what it has to do with the exact one (docs/lowrank.md).
    rank : int, default 256
        How many features each of these kernels has.
    tol : float, default 1e-3
        The relative duality gap to reach (for EmpiricalBayes: `stationarity_`).
    max_iter : int, default 1000
        Outer steps at most; more than 1,000 also allow for more work.
    fit_intercept : bool, default True
        Whether there is a b.
    class_weight : None, "balanced" or dict, default None
        {class: weight}; "balanced" weighs classes by the inverse of their numbers.
    multi_class : "ovr", "shared" or "auto", default "ovr"
        With more than two classes, or several labels: "ovr", one-vs-rest, has weights for each class or label; "shared"
        one weight vector for all of them. "auto" shares where a class has fewer than 30 examples, too few for weights
        of its own, and with EmpiricalBayes, which costs as many times more as there are classes; else it takes "ovr".
        `multi_class_reason_` says which and why.
    calibrate : "sigmoid" or None, default None
        "sigmoid": `predict_proba` of any loss, by 1 / (1 + e^{−(slope f + offset)}) of the decisions f, whose two
        numbers for each output are learned from decisions on held-out examples in 5 more fits; `predict` stays that
        of the decisions.
    memory_limit : int, str or None, default None
        Bytes for kernels, such as "4GB": blocks of them, copies of the columns that they see, matrices kept. The
        combined kernel of the examples that matter takes half as much besides, at most; a larger one is multiplied
        block by block, which is slow. docs/performance.md says what else a fit holds.
    device : str, default "cpu"
        "cpu"; "cuda" or "cuda:1", a card, by PyTorch (extra `gpu`); "auto", a card where there is one and the problem
        is worth it; "torch", PyTorch on the processor, to try out what a card would do. X and y may be tensors: where
        they lie on a card, that is the one that "cpu" and "auto" mean.
    n_jobs : int or None, default None
        Threads; None or -1 for all cores.
    random_state : None, int, RandomState or Generator, default None
        For the order of the examples in solver "coordinate" and for `approximation`; nothing else is drawn. None is
        the same as 0: fits are deterministic.
    verbose : bool, default False
        Whether to show progress, with an estimate of the time left.
    warm_start : bool, default False
        Whether fit begins from the last solution.
    checkpoint : path or None, default None
        A file in which a long fit is kept while it runs. After a crash or `kill -9` the same fit, with the same path,
        goes on from there: solver "coordinate" to the same result bit by bit, the others from their best point, and
        classes that are solved, one-vs-rest, are not solved again. The same fit has the same data in the same form
        (strings in a list are not those in a pandas column, nor upper case lower case), the same kernels and the same
        parameters, but max_iter may be raised; the file of another is refused. A path is thus for one fit: in
        GridSearchCV or cross_val_score leave None, or the fits refuse each other's file. When the fit is done the file
        stays and fitting again returns its result at once; delete the file to begin anew. A write that fails during the
        fit is a RuntimeWarning: the fit goes on, and the file keeps its last state.

    Attributes
    ----------
    kernel_weights_ : array (M,), or (n_classes, M) one-vs-rest
        θ. For a number p it lies on the unit p-norm ball and need not sum to 1: shares are θ / θ.sum().
    kernel_names_ : list of M str
    kernels_chosen_ : str
        With kernels="auto", what was chosen and what was left out; shown while it fits with verbose=True.
    slack_weight_ : float, or array (n_classes,) one-vs-rest
        With slack=True, its θ; those of the kernels and this one together lie on the ball.
    kernel_scale_ : array (M,)
        What each kernel is multiplied with to be normalised, 0 for those left out; with normalize="spherical" k(x, y)
        is divided by √(k(x, x) k(y, y)) first.
    duality_gap_ : float
        How far the objective is above its minimum at most, relatively; the largest over the classes. NaN with
        EmpiricalBayes.
    objective_ : float
        The primal above, the sum over the classes.
    n_iter_ : int
        Outer steps, the largest number over the classes.
    history_ : list of dict
        One for each outer step.
    support_ : array (n_support,)
        The numbers of the examples in `dual_coef_`.
    dual_coef_ : array (1 or n_classes, n_support)
        Their dual variables, signed.
    intercept_ : array (1 or n_classes,)
        b.
    classes_ : array (n_classes,)
        The classes, or 0..T−1 of T labels.
    multi_class_, multi_class_reason_ : str
        "ovr" or "shared", and why, in words.
    calibration_ : array (1 or n_classes, 2)
        With calibrate="sigmoid", slope and offset of each output.
    multilabel_ : bool
        Whether y was an indicator matrix (n, T) of labels that may hold together, with an output each.
    tasks_ : array
        The tasks of the training data, where kernels are `multi_task`.
    log_marginal_likelihood_, stationarity_, noise_ : float
        With EmpiricalBayes: the sum and the maximum over the classes, and σ², one-vs-rest (n_classes,).
    support_weight_ : array (n_support,)
        With EmpiricalBayes, the sample and class weights of the support examples.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array
        Their names, where X had some.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF, Linear
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> kernels = [("wide", RBF(gamma=0.01)), ("narrow", RBF(gamma=0.1)), ("line", Linear())]
    >>> model = MKLClassifier(kernels, multi_class="auto").fit(X[::2], y[::2])
    >>> model.multi_class_, model.kernel_weights_.shape, model.duality_gap_ <= 1e-3
    ('shared', (3,), True)
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    file_tag = ("estimator/classifier", 1)

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
        psd: str = "warn",
        features: str = "auto",
        approximation: str | None = None,
        rank: int = 256,
        tol: float = 1e-3,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        multi_class: str = "ovr",
        calibrate: str | None = None,
        memory_limit: float | str | None = None,
        device: str = "cpu",
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
        self.psd = psd
        self.features = features
        self.approximation = approximation
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X and the labels y, of the tasks `task` (n,) where kernels are `multi_task`.

        X may be a source that is read block by block, see `manykernels.streaming`, with y an array or a name in it.
        y is (n,), a class for each example, or (n, T) of 0 and 1, labels of which any number may hold.
        """
        if is_source(X):
            if self.calibrate is not None:
                raise ValueError(f"calibrate={self.calibrate!r} needs data in memory: give arrays, or calibrate=None.")
            return fit_source(self, X, y, sample_weight, task)
        examples = self._read(X, y, sample_weight, task)
        self._fit(examples)
        if self.calibrate is not None:
            self.calibration_ = learn_sigmoids(self, X, y, examples)
        return self

    def _read(self, X, y, sample_weight=None, task=None):
        """The `Examples` of a fit, with the costs of their classes; sets `classes_` and what else follows from y."""
        self._check_params()
        check_number("C", self.C)
        check_choice("multi_class", self.multi_class, ("ovr", "shared", "auto"))
        check_choice("calibrate", self.calibrate, (None, "sigmoid"))
        loss = check_loss(self.loss, "binary", also=("squared",))
        check_order(X, y)
        y, self.multilabel_ = read_labels(self, y)
        host, card = to_host(X)
        X = self._check_X(host, reset=True)
        check_consistent_length(range(n_examples(X)), y)
        weight, task = check_weight(sample_weight, len(y)), check_task(task, len(y))
        Y, of_example = (self._labels if self.multilabel_ else self._classes)(y, weight, task)
        self.multi_class_, self.multi_class_reason_ = self._choose(Y, weight)
        joint = len(Y) == 1 or self.multi_class_ == "shared"
        c = self.C * weight * of_example
        return Examples(X, Y, weight, c, loss, self.C, self.fit_intercept, joint, task, card)

    def _labels(self, y, weight, task):
        """(±1 (T, n), factors of the examples (n,)) of labels that may hold together."""
        check_multilabel(y, weight, self.class_weight, task)
        self.classes_ = np.arange(y.shape[1])
        return np.where(y.T == 1, 1.0, -1.0), np.ones(len(y))

    def _classes(self, y, weight, task):
        """The same of classes that exclude each other: one-vs-rest, a row only where there are two."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        present = np.bincount(codes, weight, len(self.classes_)) > 0
        if present.sum() < 2:
            raise ValueError(
                f"y has one class only ({shown(self.classes_[present][0])}) among the examples with weight: "
                "a classifier needs at least two classes."
            )
        check_classes_of_tasks(task, y, weight)
        of_class = np.ones(len(self.classes_))
        of_class[present] = compute_class_weight(
            self.class_weight, classes=self.classes_[present], y=y[weight > 0], sample_weight=weight[weight > 0]
        )
        targets = np.arange(1, 2) if len(self.classes_) == 2 else np.arange(len(self.classes_))
        return np.where(codes == targets[:, None], 1.0, -1.0), of_class[codes]

    def _choose(self, Y, weight):
        if self.multi_class != "auto":
            return self.multi_class, f'multi_class="{self.multi_class}" was given'
        return choose_multi_class(Y, weight, self.regularizer)

    def _several(self):
        """Whether there is an output for each class or label."""
        return self.multilabel_ or len(self.classes_) > 2

    def decision_function(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x) + b: (n,) for two classes (positive: classes_[1]), else (n, n_classes) or (n, n_labels)."""
        decision = self._decide(X, task)
        return decision if self._several() else decision[:, 0]

    def predict(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """The class of each example, (n,), or its labels, (n, T) of 0 and 1."""
        decision = self._decide(X, task)
        if self.multilabel_:
            return (decision > 0).astype(int)
        return self.classes_[decision.argmax(axis=1) if self._several() else (decision[:, 0] > 0).astype(int)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """P(class | x), (n, n_classes), one-vs-rest ones made to sum to 1; P(label | x), (n, T), of several labels.

        With loss="logistic" 1 / (1 + e^{−f}). With regularizer=EmpiricalBayes(...) labels are ±1 and Gaussian about
        the posterior, and P is the probability that a new one, its noise included, is positive:
        Φ(f(x) / √(var(x) + σ²)). That needs the kernels between all n training examples, n² + 2 n n_new float64
        numbers, and their Cholesky factor, for each vector of weights and in each call. For other losses
        calibrate="sigmoid", or scikit-learn's `CalibratedClassifierCV`.
        """
        decision, variance = self._decide(X, task), None
        if self.calibrate is not None:
            decision = decision * self.calibration_[:, 0] + self.calibration_[:, 1]
        elif not losses.get(self.loss).probabilistic:
            variance = posterior_variance(self, self._new_X(X, task)) + self.noise_
        return probabilities(decision, variance, not self.multilabel_)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """ln of `predict_proba`, of the same shape; −inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, task))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> float:
        """The share of examples, by weight, whose class, or all of whose labels, are right."""
        from sklearn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X, task), sample_weight=sample_weight)
