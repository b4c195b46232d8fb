"""Classification of two classes, several classes or several labels, with kernel weights per class or for all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from .. import losses
from .._parts import declared_by_keyword
from .._validation import check_choice, shown
from .base import MKLBase
from .check_targets import check_classes_of_tasks, check_loss, check_multilabel, check_weight, read_labels
from .choose_c import check_C
from .outputs import (
    available_if,
    check_probabilities,
    choose_multi_class,
    largest,
    learn_sigmoids,
    posterior_variance,
    probabilities,
    scored,
)
from .path import HasPath
from .streamed import FitsSources, scored_targets


@declared_by_keyword
class MKLClassifier(ClassifierMixin, FitsSources, HasPath, MKLBase):
    """Learns a classifier and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    y_i is ±1 in V, z = y_i f(x_i) below.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, default "auto"
        Each entry is a kernel, (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing); a
        transformer may precede the kernel. "auto" takes RBF and Laplacian kernels of several widths on all columns
        together, kernels on single columns with a prior of 0.2, tf-idf kernels on texts, and fewer kernels per view if
        X has views (`kernels.auto_kernels`); `kernels_chosen_` lists them. "precomputed": X is an (n, n_train, M) array
        or a `KernelStack`. A search reaches parameters as `kernels__NAME__gamma`, `regularizer__p`, `solver__tau`.
    regularizer : float or Regularizer, default 2
        A number p ≥ 1 is ‖θ‖_p ≤ 1: 1 is sparse, np.inf the plain sum. Or a member of `regularizers`: constraints
        LpNorm(p), WeightedLpNorm(p, weights), ElasticNet(v), MixedNorm(v, p), NonIsotropic(E), Ball(center, radius);
        penalties Entropy(lam), LpPenalty(p, mu), LpSum(p), BlockElasticNet(lam), Wedge(); block norms BlockNorm(q),
        BlockSum(q), Separable(g); EmpiricalBayes(noise, prior), for the squared loss; weights found beforehand by
        Uniform(), BestSingle(cv), Align(), AlignF(), EasyMKL(lam), or given, Fixed(weights).
    loss : str or Loss, default "hinge"
        "hinge" max(0, 1 − z), "squared_hinge" max(0, 1 − z)² (no ½), "smooth_hinge" (1/σ) ln(1 + e^(σ(1 − z))), σ = 10,
        "logistic" ln(1 + e^(−z)), "squared" (1 − z)² (no ½), least squares on ±1; or a `Loss` such as
        SmoothHinge(sigma).
    C : float or "auto", default "auto"
        Factor of the loss, multiplied with sample_weight and class_weight. "auto" chooses 0.1, 1, 10 or 100 within the
        fit by approximate leave-one-out decisions (`C_scores_`), which costs about one more fit (docs/start.md).
    normalize : "auto", "multiplicative", "exact", "spherical", "trace" or None, default "auto"
        Unit variance in feature space; k(x, x) = 1 for every example; k(x, x) = 1 on average; or kernels as they are.
        "auto" is "spherical" if kernels count words of sequences, some more than 1.5 times as long as others, and all
        other kernels have k(x, x) = 1; else "multiplicative". `normalize_` has the choice.
        `Constant` and `Identity` are never normalised. Above 10,000 examples "multiplicative" may estimate its scales
        (docs/performance.md); "exact" takes all pairs.
    slack : bool, default False
        Whether to add the identity as a kernel, with the weight `slack_weight_`. The identity fits single training
        examples and predicts nothing about others, so that nearly diagonal kernels need no weight for that purpose.
        `kernel_weights_` and predictions leave it out. Needs kernels computed pair by pair, and a regularizer that
        learns the weights and treats all of them alike.
    solver : str or BaseSolver, default "auto"
        "auto", the fastest exact solver of the problem; the name of a solver; a member of `solvers` with its
        parameters, such as Level(tau=0.9); or your own subclass of `solvers.BaseSolver`.
    psd : "warn", "clip", "shift" or "error", default "warn"
        How to treat precomputed kernels that are not positive semidefinite: "clip" sets negative eigenvalues to 0,
        "shift" adds the size of the least eigenvalue to the diagonal, "error" raises (docs/precomputed.md).
    features : str, default "auto"
        Whether to compute kernels from their explicit features, which string, linear and low-rank kernels have: "auto",
        if that is cheaper, and for solver="coordinate"; "never", pair by pair; or always, with the vectors stored in a
        "map", "sorted", "trie" or "hash" (docs/sequences.md).
    approximation : "nystroem", "rff" or None, default None
        Replace each kernel, unless it has few explicit features already, by one of low rank, so that the time of a fit
        is linear in the number of examples: `Nystroem(kernel, rank)`, from landmarks, or `RandomFeatures(kernel,
        rank)`, random Fourier features, for RBF and Laplacian. `duality_gap_` is the gap of the approximated problem;
        `inspect.approximation_error` compares it with the exact problem (docs/lowrank.md).
    rank : int, default 256
        The number of features of each approximated kernel.
    tol : float, default 1e-3
        The relative duality gap to reach (for EmpiricalBayes: `stationarity_`).
    max_iter : int, default 1000
        The largest number of outer steps; a value above 1,000 also raises the limit on work.
    fit_intercept : bool, default True
        Whether to learn b.
    class_weight : None, "balanced" or dict, default None
        {class: weight}; "balanced" weights classes by the inverse of their sizes.
    multi_class : "ovr", "shared" or "auto", default "ovr"
        With more than two classes, or several labels: "ovr", one-vs-rest, learns weights for each class or label;
        "shared" learns one weight vector for all. "auto" takes "shared" if a class has fewer than 30 examples, too few
        to learn weights from, or with EmpiricalBayes, whose cost grows with the number of weight vectors; otherwise
        "ovr". `multi_class_reason_` gives the reason.
    calibrate : "sigmoid" or None, default None
        "sigmoid" gives every loss `predict_proba`, 1 / (1 + e^{−(slope f + offset)}) of the decision f. Five more fits
        give decisions on held-out examples, from which slope and offset of each output are learned. `predict` still
        uses the decisions.
    memory_limit : int, str or None, default None
        Bytes for kernels, such as "4GB": blocks of kernel values, copies of columns, kernel matrices. The combined
        kernel of the active examples takes at most half as much on top; if it is larger, the fit multiplies it block by
        block, which is slow. docs/performance.md lists what else a fit holds.
    device : str, default "cpu"
        "cpu"; "cuda" or "cuda:1", a card, through PyTorch (extra `gpu`); "auto", a card if there is one and the problem
        is large enough; "torch", PyTorch on the processor, to test the code that runs on a card. X and y may be
        tensors: if they lie on a card, "cpu" and "auto" mean that card.
    n_jobs : int or None, default None
        Threads; None or -1 for all cores.
    random_state : None, int, RandomState or Generator, default None
        Seed of the order of the examples in solver "coordinate" and of `approximation`; nothing else is random. None
        means 0: fits are deterministic.
    verbose : bool or "lines", default False
        Whether to show progress, with the time left; "lines" writes a line on stderr every ten seconds, for logs.
    warm_start : bool, default False
        Whether fit starts from the last solution.
    checkpoint : path or None, default None
        A file that keeps the state of a long fit. After a crash or `kill -9` the same fit, with the same path,
        continues from the file: solver "coordinate" to the same result bit by bit, the others from their best point;
        one-vs-rest fits skip the classes already solved. The same fit has the same data in the same form (a list of
        strings differs from a pandas column, and upper case from lower case), the same kernels and the same parameters,
        except max_iter, which may grow; a fit refuses the file of another fit. So leave None in GridSearchCV and
        cross_val_score. After the fit the file stays, and fitting again returns its result at once; delete the file to
        start anew. If a write fails, the fit gives a RuntimeWarning and continues, and the file keeps its last state.

    Attributes
    ----------
    kernel_weights_ : array (M,), or (n_classes, M) one-vs-rest
        θ. For a number p it lies on the unit p-norm ball and need not sum to 1: shares are θ / θ.sum().
        At p = 1 the weights that the gap allows to be 0 are 0.
    kernel_names_ : list of M str
    kernels_chosen_ : str
        With kernels="auto", the kernels that were chosen and left out, in words; verbose=True prints them.
    slack_weight_ : float, or array (n_classes,) one-vs-rest
        With slack=True, the weight of the identity; it and `kernel_weights_` together lie on the ball.
    normalize_ : str or None
        The normalisation of the fit, which normalize="auto" has chosen.
    kernel_scale_ : array (M,)
        The factor that normalises each kernel, 0 for kernels left out; normalize="spherical" first divides k(x, y) by
        √(k(x, x) k(y, y)).
    kernel_scale_error_ : array (M,)
        The relative errors of `kernel_scale_`, three standard errors, 0 for exact ones; only if some are from a sample.
    duality_gap_ : float
        A bound on the distance of the objective from its minimum, relative; the largest over the classes. NaN with
        EmpiricalBayes.
    objective_ : float
        The primal objective, summed over the classes.
    n_iter_ : int
        Outer steps, the largest count over the classes.
    history_ : list of dict
        One record for each outer step.
    support_ : array (n_support,)
        The indices of the examples in `dual_coef_`.
    dual_coef_ : array (1 or n_classes, n_support)
        The signed dual variables of the support examples.
    intercept_, intercept_shift_ : array (1 or n_classes,)
        b, and the part of it that C="auto" adds to the certified b if classes have weights (docs/start.md).
    covariate_coef_ : array (1 or n_classes, q)
        After a fit with covariates, their coefficients w, in the units of the covariates.
    covariate_names_ : list of str
        Their names; "column=level" for a level of a category.
    covariate_columns_ : dict
        The columns that predictions read, and the levels of categories; None for numbers.
    classes_ : array (n_classes,)
        The classes, or 0..T−1 for T labels.
    multi_class_, multi_class_reason_ : str
        "ovr" or "shared", and the reason in words.
    calibration_ : array (1 or n_classes, 2)
        With calibrate="sigmoid", the slope and offset of each output.
    multilabel_ : bool
        Whether y was an indicator matrix (n, T) of labels, with one output per label.
    C_ : float
        With C="auto", the chosen C.
    C_scores_ : dict of arrays "C" and "score"
        With C="auto", the candidates and their mean scores, greater is better: −ln(1 + e^{−z}), where z is the margin
        y f, or half the distance of the class from the best other, of an example in a fit without it, to first order.
    metric_ : {source: {"column", "scale", "share"}}
        With kernels that have metric="learn": for each source, the columns that its kernels see, their scales, all 1 if
        no round was kept, and their shares in the mean distance between examples.
    predictor_ : Predictor
        The support examples and their kernels, from which decisions are computed.
    tasks_ : array
        The tasks of the training data, if kernels are `multi_task`.
    log_marginal_likelihood_, stationarity_, noise_ : float
        With EmpiricalBayes: the sum over the classes, the maximum over the classes, and σ², (n_classes,) one-vs-rest.
    support_weight_ : array (n_support,)
        With EmpiricalBayes, the sample and class weights of the support examples.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array
        The names of the columns, if X had names, or the labels of the training examples in a `KernelStack`.
    target_names_ : list of str
        The names of the targets, if y was a frame of several.
    view_feature_names_in_ : dict {view: list of str}
        The names of the columns of each view, or side of pairs, that is a frame.

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

    fit_intercept: bool = True
    class_weight: dict | str | None = None
    multi_class: str = "ovr"
    calibrate: str | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fit(self, examples):
        super()._fit(examples)
        if self.calibrate is not None:
            self.calibration_ = learn_sigmoids(self, examples)
        return self

    def _read(self, X, y, sample_weight=None, task=None, covariates=None):
        """The `Examples` of a fit, with class weights in their costs; sets `classes_` and other attributes of y."""
        self._check_params()
        C = check_C(self.C)
        check_choice("multi_class", self.multi_class, ("ovr", "shared", "auto"))
        check_choice("calibrate", self.calibrate, (None, "sigmoid"))
        loss = check_loss(self.loss, "binary", also=("squared",))
        given = self._check_data(X, y, sample_weight, task, covariates)
        Y, of_example = (self._labels if self.multilabel_ else self._classes)(given.Y, given.weight, given.task)
        self.multi_class_, self.multi_class_reason_ = self._choose(Y, given.weight)
        joint, c = len(Y) == 1 or self.multi_class_ == "shared", C * given.weight * of_example
        own = dict(intercept=self.fit_intercept, joint=joint, classes=self.classes_)
        return replace(given, Y=Y, c=c, loss=loss, C=C, **own)

    def _check_y(self, y):
        y, self.multilabel_ = read_labels(self, y)
        return y

    def _labels(self, y, weight, task):
        """(±1 (T, n), factors of the examples (n,)) of an indicator matrix y (n, T)."""
        check_multilabel(y, weight, self.class_weight, task)
        self.classes_ = np.arange(y.shape[1])
        return np.where(y.T == 1, 1.0, -1.0), np.ones(len(y))

    def _classes(self, y, weight, task):
        """The same of classes y (n,): a row for each class, one-vs-rest, or one row for two classes."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        present = np.bincount(codes, weight, len(self.classes_)) > 0
        if present.sum() < 2:
            raise ValueError(
                f"y has one class only ({shown(self.classes_[present][0])}) among the examples with weight: "
                "a classifier needs at least two classes."
            )
        check_classes_of_tasks(task, y, weight)
        of_class = np.ones(len(self.classes_))
        if self.class_weight is not None:
            of_class[present] = compute_class_weight(
                self.class_weight, classes=self.classes_[present], y=y[weight > 0], sample_weight=weight[weight > 0]
            )
        if not (of_class >= 0).all():  # NaN too
            raise ValueError(f"class_weight={shown(self.class_weight)} must hold numbers >= 0.")
        targets = np.arange(1, 2) if len(self.classes_) == 2 else np.arange(len(self.classes_))
        return np.where(codes == targets[:, None], 1.0, -1.0), of_class[codes]

    def _choose(self, Y, weight):
        if self.multi_class != "auto":
            return self.multi_class, f'multi_class="{self.multi_class}" was given'
        return choose_multi_class(Y, weight, self.regularizer)

    def _several(self):
        """Whether there is an output for each class or label."""
        return self.multilabel_ or len(self.classes_) > 2

    def decision_function(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """Σ_m f_m(x) + zᵀw + b: (n,) for two classes (positive: classes_[1]), else (n, n_classes) or (n, n_labels)."""
        decision = self._decide(X, task, covariates)
        return decision if self._several() else decision[:, 0]

    def predict(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """The class of each example, (n,), the first of equal ones, or its labels, (n, T) of 0 and 1."""
        decision = self._decide(X, task, covariates)
        if self.multilabel_:
            return (decision > 0).astype(int)
        return self.classes_[largest(decision) if self._several() else (decision[:, 0] > 0).astype(int)]

    def _candidates(self):
        """The regularizers that a fit may have."""
        return [self.regularizer]

    @available_if(check_probabilities)
    def predict_proba(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """P(class | x), (n, n_classes), scaled to sum to 1 one-vs-rest; or P(label | x), (n, T).

        With loss="logistic" 1 / (1 + e^{−f}). With regularizer=EmpiricalBayes(...) the labels ±1 have a Gaussian model,
        and P = Φ(f(x) / √(var(x) + σ²)) is the probability that a new noisy label is positive. It needs the kernels
        between all n training examples, n² + 2 n n_new float64 numbers, and their Cholesky factor, for each vector of
        weights and in each call. For other losses use calibrate="sigmoid", or scikit-learn's `CalibratedClassifierCV`.
        """
        decision, variance = self._decide(X, task, covariates), None
        if self.calibrate is not None:
            decision = decision * self.calibration_[:, 0] + self.calibration_[:, 1]
        elif not losses.get(self.loss).probabilistic:
            variance = posterior_variance(self, self._new_X(X, task)) + self.noise_
        return probabilities(decision, variance, not self.multilabel_)

    @available_if(check_probabilities)
    def predict_log_proba(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """ln of `predict_proba`, of the same shape; −inf if P = 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, task, covariates))

    def score(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None,
        covariates: Any = None,
    ) -> float:  # fmt: skip
        """The weighted share of examples whose class is right, or all of whose labels are right."""
        from sklearn.metrics import accuracy_score

        X, y, covariates = scored_targets(self, X, y, sample_weight, task, covariates)
        guess = self.predict(X, task, covariates)
        own = partial(accuracy_score, y, guess, sample_weight=check_weight(sample_weight, len(guess)))
        return scored(own, y, None if self.multilabel_ else self.classes_)
