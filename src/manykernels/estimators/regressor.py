"""Regression with learned kernel weights."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length

from .._validation import check_number
from ..kernels.view_data import n_examples
from ..streaming import is_source
from ._path_method import HasPath
from .base import MKLBase
from .check_inputs import check_order
from .check_targets import check_loss, check_weight
from .outputs import read_values
from .plan import Examples
from .posterior import posterior_variance
from .streamed import fit_source
from .tasks import check_task
from .tensors import to_host

if TYPE_CHECKING:
    from ..losses.base import Loss
    from ..regularizers.base import Regularizer
    from ..solvers.base import BaseSolver


def _is_insensitive(loss):
    return isinstance(loss, str) and loss == "epsilon_insensitive"


class MKLRegressor(RegressorMixin, HasPath, MKLBase):
    """Learns a regression function and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    With the squared loss, the default, and a constraint on θ the unit of y does not matter: y → s y + t gives
    f → s f + t. The ε-insensitive and Huber's loss grow like |y| and ½ Σ_m ‖f_m‖² / θ_m like y²: as with SVR, ε = 0.1
    and C = 1 are for targets whose standard deviation is about 1, and a warning says where they are far from it.

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
    loss : str or Loss, default "squared"
        "squared" (y − f)² (no ½); against outliers, and for few support vectors, "epsilon_insensitive"
        max(0, |y − f| − ε), or "huber", which is ½ (y − f)² up to |y − f| = δ = 1.35 and δ|y − f| − ½ δ² beyond; or a
        `Loss`, Huber(delta) say.
    epsilon : float or None, default None
        ε of loss="epsilon_insensitive", None for 0.1; other losses refuse it.
    C : float, default 1.0
        Factor of the loss, times sample_weight.
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
        goes on from there: solver "coordinate" to the same result bit by bit, the others from their best point. The
        same fit has the same data in the same form (strings in a list are not those in a pandas column, nor upper case
        lower case), the same kernels and the same parameters, but max_iter may be raised; the file of another is
        refused. A path is thus for one fit: in GridSearchCV or cross_val_score leave None, or the fits refuse each
        other's file. When the fit is done the file stays and fitting again returns its result at once; delete the file
        to begin anew. A write that fails during the fit is a RuntimeWarning: the fit goes on, and the file keeps its
        last state.

    Attributes
    ----------
    kernel_weights_ : array (M,)
        θ, one vector for all targets. For a number p it lies on the unit p-norm ball and need not sum to 1: shares are
        θ / θ.sum().
    kernel_names_ : list of M str
    kernels_chosen_ : str
        With kernels="auto", what was chosen and what was left out; shown while it fits with verbose=True.
    slack_weight_ : float
        With slack=True, its θ; those of the kernels and this one together lie on the ball.
    kernel_scale_ : array (M,)
        What each kernel is multiplied with to be normalised, 0 for those left out; with normalize="spherical" k(x, y)
        is divided by √(k(x, x) k(y, y)) first.
    duality_gap_ : float
        How far the objective is above its minimum at most, relatively. NaN with EmpiricalBayes.
    objective_ : float
        The primal above.
    n_iter_ : int
        Outer steps.
    history_ : list of dict
        One for each outer step.
    support_ : array (n_support,)
        The numbers of the examples in `dual_coef_`.
    dual_coef_ : array (T, n_support)
        Their dual variables, signed, a row for each target.
    intercept_ : array (T,)
        b.
    n_outputs_ : int
        T, the number of targets: y may be (n, T), and all targets share the weights of the kernels.
    tasks_ : array
        The tasks of the training data, where kernels are `multi_task`.
    log_marginal_likelihood_, stationarity_, noise_ : float
        With EmpiricalBayes; `noise_` is σ².
    support_weight_ : array (n_support,)
        With EmpiricalBayes, the sample weights of the support examples.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array
        Their names, where X had some.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import RBF, Linear
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X, y = scale(X), scale(y)
    >>> kernels = [("wide", RBF(gamma=0.01)), ("narrow", RBF(gamma=0.1)), ("line", Linear())]
    >>> model = MKLRegressor(kernels).fit(X[:300], y[:300])
    >>> model.kernel_weights_.shape, model.duality_gap_ <= 1e-3
    ((3,), True)
    >>> round(model.score(X[300:], y[300:]), 1)
    0.5
    """

    file_tag = ("estimator/regressor", 1)

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        regularizer: float | Regularizer = 2,
        loss: str | Loss = "squared",
        epsilon: float | None = None,
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
        self.epsilon = epsilon
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
        self.memory_limit = memory_limit
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X and the real targets y, of the tasks `task` (n,) where kernels are `multi_task`.

        X may be a source that is read block by block, see `manykernels.streaming`, with y an array or a name in it.
        y is (n,) or (n, T): T targets share the weights of the kernels, and C, so that they should be of one scale.
        """
        if is_source(X):
            return fit_source(self, X, y, sample_weight, task)
        return self._fit(self._read(X, y, sample_weight, task))

    def _read(self, X, y, sample_weight=None, task=None):
        """The `Examples` of a fit; sets `n_outputs_`."""
        self._check_params()
        check_number("C", self.C)
        loss = check_loss(self.loss, "real", **self._tube())
        check_order(X, y)
        Y = read_values(self, y)
        host, card = to_host(X)
        X = self._check_X(host, reset=True)
        check_consistent_length(range(n_examples(X)), Y[0])
        weight = check_weight(sample_weight, Y.shape[1])
        self.n_outputs_ = len(Y)
        task = check_task(task, Y.shape[1])
        return Examples(X, Y, weight, self.C * weight, loss, self.C, self.fit_intercept, task=task, card=card)

    def _tube(self):
        """The parameter of the loss that the model has itself, {} where it is None."""
        if self.epsilon is None:
            return {}
        check_number("epsilon", self.epsilon, closed="left")
        if not _is_insensitive(self.loss):
            raise ValueError(
                f"epsilon={self.epsilon!r} has no effect with loss={self.loss!r}: leave it out, or give "
                "loss='epsilon_insensitive'."
            )
        return {"epsilon": self.epsilon}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The fitted model of what `to_state` gave; old files have epsilon = 0.1 beside every loss."""
        params = state.get("parameters")
        if isinstance(params, dict) and params.get("epsilon") == 0.1 and not _is_insensitive(params.get("loss")):
            params["epsilon"] = None
        return super().from_state(state)

    def predict(
        self, X: Any, task: ArrayLike | None = None, *, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Σ_m f_m(x) + b, (n,), or (n, T) where there are T targets.

        Parameters
        ----------
        X : the new examples
        task : (n,), their tasks, where kernels are `multi_task`
        return_std : whether to return the standard deviation of f(x) too, for regularizer=EmpiricalBayes(...), whose
            posterior it is: √(k(x, x) − k(x, X)(K + σ²W⁻¹)⁻¹k(X, x)) at the learned weights and noise, with b taken as
            known. That of a new observation is √(std² + noise_). It needs the kernels between all n training examples,
            n² + 2 n n_new float64 numbers, and their Cholesky factor, in each call.

        Returns
        -------
        mean, or (mean, std), of the same shape

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import RBF, Linear
        >>> from manykernels.regularizers import EmpiricalBayes
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, size=(80, 1))
        >>> y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=80)
        >>> bayes = EmpiricalBayes(noise="learn")
        >>> model = MKLRegressor([RBF(gamma=3.0), Linear()], regularizer=bayes, loss="squared").fit(X, y)
        >>> mean, std = model.predict([[0.0], [3.0]], return_std=True)
        >>> bool(std[0] < 0.1 < std[1])  # the second is far from all that was seen
        True
        """
        decision = self._decide(X, task)
        mean = decision if self.n_outputs_ > 1 else decision[:, 0]
        if not return_std:
            return mean
        if not hasattr(self, "noise_"):
            raise ValueError(
                f"return_std=True needs a Gaussian posterior, which regularizer={self.regularizer!r} does not have: "
                'fit with regularizer=EmpiricalBayes(noise="learn"), loss="squared".'
            )
        std = np.sqrt(posterior_variance(self, self._new_X(X, task))[:, 0])
        return mean, std if self.n_outputs_ == 1 else np.repeat(std[:, None], self.n_outputs_, axis=1)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> float:
        """R², the share of the variance of y that is predicted; the mean over the targets."""
        from sklearn.metrics import r2_score

        return r2_score(y, self.predict(X, task), sample_weight=sample_weight)
