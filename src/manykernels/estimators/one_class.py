from __future__ import annotations

from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from .._parts import declared_by_keyword
from .._validation import check_choice, check_number
from ..regularizers.base import Regularizer
from .base import MKLBase
from .check_targets import check_loss
from .outputs import available_if

ROUNDING = 1e-12  # of b: examples on the surface are inside, whatever the last digit of a sum


def _is_svdd(self):
    if self.formulation != "svdd":
        raise AttributeError(
            f'centre_distances needs formulation="svdd", the only one with a centre, not {self.formulation!r}.'
        )


@declared_by_keyword
class MKLOneClass(OutlierMixin, MKLBase):
    """Learns the support of a distribution and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  b + 1/(ν Σw) Σ_i w_i max(0, −Σ_m f_m(x_i) − b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Decisions are those of scikit-learn's OneClassSVM divided by νΣw; for "svdd" they are ½ (radius² − distance²).

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, default "auto"
        Each entry is a kernel, (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing); a
        transformer may precede the kernel. "auto" takes RBF and Laplacian kernels of several widths on all columns
        together, kernels on single columns with a prior of 0.2, tf-idf kernels on texts, and fewer kernels per view if
        X has views (`kernels.auto_kernels`); `kernels_chosen_` lists them. "precomputed": X is an (n, n_train, M) array
        or a `KernelStack`. A search reaches parameters as `kernels__NAME__gamma`, `regularizer__p`, `solver__tau`.
    nu : float, default 0.5
        ν in (0, 1]: at most this share of the examples lies outside, and at least this share are support vectors.
    formulation : "one_class", "level_set" or "svdd", default "one_class"
        "one_class", the problem above. "level_set" (Kloft et al. 2011, §3.4) learns no offset, `offset_` is 1:
        C Σ_i w_i max(0, 1 − Σ_m f_m(x_i)) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ). "svdd" (Tax and Duin 1999) reads the problem
        above as the smallest ball around the examples, with `radius_` and `centre_distances`. It needs
        normalize="spherical": the two problems have the same centre Σ a_i φ(x_i) only if k(x, x) is the same for all x.
        θ is that of the one-class problem, since the radius itself is least at θ = 0.
    C : float, default 1.0
        Factor of the loss of formulation="level_set"; the other formulations use `nu`.
    regularizer : float or Regularizer, default inf
        A number p ≥ 1 is ‖θ‖_p ≤ 1: np.inf is the plain sum of the kernels, 1 is sparse. A finite p gives most weight
        to the kernel in which the examples are most alike, which is the widest of several widths; on tables it found
        fewer outliers than the sum (docs/comparison.md). Or a member of `regularizers`: constraints
        LpNorm(p), WeightedLpNorm(p, weights), ElasticNet(v), MixedNorm(v, p), NonIsotropic(E), Ball(center, radius);
        penalties Entropy(lam), LpPenalty(p, mu), LpSum(p), BlockElasticNet(lam), Wedge(); block norms BlockNorm(q),
        BlockSum(q), Separable(g); weights found beforehand by Uniform(), BestSingle(cv), Align(), AlignF(),
        EasyMKL(lam), or given, Fixed(weights).
    normalize : "auto", "multiplicative", "exact", "spherical", "trace" or None, default "auto"
        Unit variance in feature space, which makes wide kernels large; k(x, x) = 1 for every example; k(x, x) = 1 on
        average; or kernels as they are. "auto" is "spherical" if kernels count words of sequences, some more than 1.5
        times as long as others, and all other kernels have k(x, x) = 1; else "trace". `normalize_` has the choice.
        `Constant` and `Identity` are never normalised. Above 10,000 examples a sample of the pairs gives the scales of
        "multiplicative", with an error of at most 0.1 %, if kernels are computed on the fly and `tol` is at least 1e-4;
        "exact" is "multiplicative" from all pairs.
    solver : str or BaseSolver, default "auto"
        "auto", the fastest exact solver of the problem; the name of a solver; a member of `solvers` with its
        parameters, such as Level(tau=0.9); or your own subclass of `solvers.BaseSolver`.
    psd : "warn", "clip", "shift" or "error", default "warn"
        How to treat precomputed kernels that are not positive semidefinite: "clip" sets negative eigenvalues to 0,
        "shift" adds the size of the least eigenvalue to the diagonal, "error" raises (docs/precomputed.md).
    features : str, default "auto"
        Whether to compute string and linear kernels from their explicit features: "auto", with many examples, if that
        is faster, and for solver="coordinate"; "never", pair by pair; or always, with the vectors stored in a "map",
        "sorted", "trie" or "hash" (docs/sequences.md).
    approximation : "nystroem", "rff" or None, default None
        Replace each kernel, unless it has few explicit features already, by one of low rank, so that the time of a fit
        is linear in the number of examples: `Nystroem(kernel, rank)`, from landmarks, or `RandomFeatures(kernel,
        rank)`, random Fourier features, for RBF and Laplacian. `duality_gap_` is the gap of the approximated problem;
        `inspect.approximation_error` compares it with the exact problem (docs/lowrank.md).
    rank : int, default 256
        The number of features of each approximated kernel.
    tol : float, default 1e-3
        The relative duality gap to reach.
    max_iter : int, default 1000
        The largest number of outer steps; a value above 1,000 also raises the limit on work.
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
        continues from the file: solver "coordinate" to the same result bit by bit, the others from their best point.
        The same fit has the same data in the same form (a list of strings differs from a pandas column, and upper case
        from lower case), the same kernels and the same parameters, except max_iter, which may grow; a fit refuses the
        file of another fit. So leave None in GridSearchCV and cross_val_score. After the fit the file stays, and
        fitting again returns its result at once; delete the file to start anew. If a write fails, the fit gives a
        RuntimeWarning and continues, and the file keeps its last state.

    Attributes
    ----------
    kernel_weights_ : array (M,)
        θ. For a number p it lies on the unit p-norm ball and need not sum to 1: shares are θ / θ.sum().
        At p = 1 the weights that the gap allows to be 0 are 0.
    kernel_names_ : list of M str
    kernels_chosen_ : str
        With kernels="auto", the kernels that were chosen and left out, in words; verbose=True prints them.
    normalize_ : str or None
        The normalisation of the fit, which normalize="auto" has chosen.
    kernel_scale_ : array (M,)
        The factor that normalises each kernel, 0 for kernels left out; normalize="spherical" first divides k(x, y) by
        √(k(x, x) k(y, y)).
    offset_ : float
        −b: `decision_function` is `score_samples` minus `offset_`.
    radius_ : float
        With formulation="svdd", the radius of the ball.
    kernel_scale_error_ : array (M,)
        The relative errors of `kernel_scale_`, three standard errors, 0 for exact ones; only if some are from a sample.
    duality_gap_ : float
        A bound on the distance of the objective from its minimum, relative to the sum of the sizes of its terms, |b|
        included.
    objective_ : float
        The primal objective.
    n_iter_ : int
        Outer steps.
    history_ : list of dict
        One record for each outer step.
    support_ : array (n_support,)
        The indices of the examples in `dual_coef_`.
    dual_coef_ : array (1, n_support)
        The dual variables of the support examples.
    intercept_ : array (1,)
        b.
    predictor_ : Predictor
        The support examples and their kernels, from which decisions are computed.
    tasks_ : array
        The tasks of the training data, if kernels are `multi_task`.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array
        The names of the columns, if X had names, or the labels of the training examples in a `KernelStack`.
    view_feature_names_in_ : dict {view: list of str}
        The names of the columns of each view, or side of pairs, that is a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLOneClass
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = MKLOneClass([("wide", RBF(gamma=0.1)), ("narrow", RBF(gamma=1.0))], nu=0.1).fit(X)
    >>> model.predict([[0, 0], [4, 4]])
    array([ 1, -1])
    >>> model.kernel_weights_.shape, bool(np.mean(model.predict(X) < 0) <= 0.11)
    ((2,), True)
    """

    file_tag = ("estimator/one_class", 1)
    _usual_normalization = "trace"

    nu: float = 0.5
    formulation: str = "one_class"
    C: float = 1.0
    regularizer: float | Regularizer = np.inf
    loss: Any = field(init=False)
    slack: bool = field(default=False, init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        *,
        covariates: None = None,
    ) -> Self:
        """Learn from X; y is ignored, as in scikit-learn's outlier detectors. `covariates` are refused."""
        if covariates is not None:
            raise ValueError(
                "MKLOneClass takes no covariates: it has no targets from which their coefficients could be learned; "
                "subtract what they explain from the columns of X, or fit a model for each category."
            )
        return self._fit(self._read(X, y, sample_weight, task))

    def _read(self, X, y=None, sample_weight=None, task=None):
        """The `Examples` of a fit, whose targets are 1."""
        self._check_params()
        check_choice("formulation", self.formulation, ("one_class", "level_set", "svdd"))
        check_number("nu", self.nu, 0, 1, "right")
        check_number("C", self.C)
        level = self.formulation == "level_set"
        name, value, default = ("nu", self.nu, 0.5) if level else ("C", self.C, 1.0)
        if value != default:
            raise ValueError(
                f"{name}={value!r} has no effect with formulation={self.formulation!r}: leave it at {default}."
            )
        if self.formulation == "svdd" and self.normalize != "spherical":
            raise ValueError(
                f'formulation="svdd" needs normalize="spherical", not {self.normalize!r}: if k(x, x) differs between '
                "examples, the smallest ball is another problem."
            )
        given = self._check_data(X, None, sample_weight, task)
        weight, loss = given.weight, check_loss("level_set" if level else "one_class", "none")
        c = self.C * weight if level else weight / (self.nu * weight.sum())
        Y, C = np.ones((1, given.n)), c.max() / weight.max()
        return replace(given, Y=Y, c=c, loss=loss, C=C, intercept=not level)

    def _make_bank(self, X, weight, *options, **more):
        bank = super()._make_bank(X, weight, *options, **more)
        if self.formulation == "svdd":
            diagonals = bank.diagonals()
            uneven = (np.abs(diagonals - diagonals[:, :1]) > 1e-5 * diagonals.max()).any(axis=1) & bank.usable
            names = ", ".join(repr(bank.names[m]) for m in np.flatnonzero(uneven)[:5])
            if names:
                raise ValueError(
                    f'formulation="svdd" needs k(x, x) to be the same for all examples, but some are 0 in {names}: '
                    'leave out the kernel or these examples, or use formulation="one_class".'
                )
        return bank

    def _store(self, plan, solved):
        super()._store(plan, solved)
        if self.formulation == "level_set":
            self.intercept_ = np.array([-1.0])
        if self.formulation == "svdd":
            self._measure(solved.bank, solved.solutions[0])

    def _measure(self, bank, solution):
        """The ball: ‖φ(x) − c‖² = Σθ_m k_m(x, x) − 2 f(x) + ‖c‖² with c = Σ a_i φ(x_i), and f = −b on its surface."""
        used, support = np.flatnonzero(solution.theta), np.flatnonzero(solution.a[0])
        a, theta = solution.a[:, support], solution.theta[used]
        centre = theta @ (bank.products(a, support, support, used)[0] @ a[0])
        self._square = float(theta @ bank.diagonals()[used, 0] + centre)  # Σθ_m k_m(x, x) + ‖c‖²
        self.radius_ = float(np.sqrt(max(self._square - 2 * self.offset_, 0.0)))

    @property
    def offset_(self) -> float:
        """−b: `decision_function` is `score_samples` minus `offset_`."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x) + b, (n,): negative outside."""
        return self._decide(X, task)[:, 0]

    def _decide(self, X, *more, **options):
        decision = super()._decide(X, *more, **options)
        return np.where(np.abs(decision) <= ROUNDING * abs(self.offset_), 0.0, decision)

    def score_samples(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x), (n,): the decision without the offset."""
        return self.decision_function(X, task) + self.offset_

    @available_if(_is_svdd)
    def centre_distances(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """‖φ(x) − c‖ in the feature space of the combined kernel, (n,); `radius_` on the surface of the ball."""
        return np.sqrt(np.maximum(self._square - 2 * self.score_samples(X, task), 0.0))

    def predict(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """+1 inside, −1 outside, (n,)."""
        return np.where(self.decision_function(X, task) >= 0, 1, -1)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None
    ) -> np.ndarray:
        """`fit`, then `predict` on the same X."""
        return self.fit(X, y, sample_weight, task).predict(X, task)
