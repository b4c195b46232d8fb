from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from .. import losses
from .._parts import declared_by_keyword
from ..losses.base import Loss
from .base import MKLBase
from .check_inputs import check_y, optional, to_host
from .check_targets import check_loss_of, check_weight
from .choose_c import check_C
from .outputs import posterior_variance
from .path import HasPath
from .streamed import FitsSources, scored_targets

EPSILON_LOSS = "epsilon_insensitive"
PARAMETER_OF = {EPSILON_LOSS: "epsilon", "quantile": "q"}  # parameters of losses that the estimators have


@declared_by_keyword
class MKLRegressor(RegressorMixin, FitsSources, HasPath, MKLBase):
    """Learns a regression function and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    With the squared loss, the default, and a constraint on θ the unit of y does not matter: y → s y + t gives
    f → s f + t. The ε-insensitive loss and Huber's loss grow like |y|, but ½ Σ_m ‖f_m‖² / θ_m grows like y²: as with
    SVR, ε = 0.1 and C = 1 suit targets with a standard deviation of about 1, and a fit warns if y is far from it. The
    same holds for the pinball loss of quantiles. Poisson's loss is for counts: predictions are e^f.

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
    loss : str or Loss, default "squared"
        "squared" (y − f)² (no ½); against outliers, and for few support vectors, "epsilon_insensitive"
        max(0, |y − f| − ε), or "huber", which is ½ (y − f)² up to |y − f| = δ = 1.35 and δ|y − f| − ½ δ² beyond;
        "quantile", the pinball loss, for the q-quantile of y given x; "poisson" for counts y ≥ 0, whose expectation is
        e^f; or a `Loss` such as Huber(delta).
    epsilon : float or None, default None
        ε of loss="epsilon_insensitive", None for 0.1; not allowed with other losses.
    q : float or None, default None
        q of loss="quantile", None for 0.5, the median; not allowed with other losses.
    C : float or "auto", default "auto"
        Factor of the loss, multiplied with sample_weight. "auto" chooses 0.1, 1, 10 or 100 within the fit
        by approximate leave-one-out decisions (`C_scores_`), which costs about one more fit (docs/start.md).
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
        θ, one vector for all targets. For a number p it lies on the unit p-norm ball and need not sum to 1: shares are
        θ / θ.sum(). At p = 1 the weights that the gap allows to be 0 are 0.
    kernel_names_ : list of M str
    kernels_chosen_ : str
        With kernels="auto", the kernels that were chosen and left out, in words; verbose=True prints them.
    slack_weight_ : float
        With slack=True, the weight of the identity; it and `kernel_weights_` together lie on the ball.
    normalize_ : str or None
        The normalisation of the fit, which normalize="auto" has chosen.
    kernel_scale_ : array (M,)
        The factor that normalises each kernel, 0 for kernels left out; normalize="spherical" first divides k(x, y) by
        √(k(x, x) k(y, y)).
    kernel_scale_error_ : array (M,)
        The relative errors of `kernel_scale_`, three standard errors, 0 for exact ones; only if some are from a sample.
    duality_gap_ : float
        A bound on the distance of the objective from its minimum, relative. NaN with EmpiricalBayes.
    objective_ : float
        The primal objective.
    n_iter_ : int
        Outer steps.
    history_ : list of dict
        One record for each outer step.
    support_ : array (n_support,)
        The indices of the examples in `dual_coef_`.
    dual_coef_ : array (T, n_support)
        The signed dual variables of the support examples, a row for each target.
    intercept_ : array (T,)
        b.
    covariate_coef_ : array (T, q)
        After a fit with covariates, their coefficients w, in the units of the covariates.
    covariate_names_ : list of str
        Their names; "column=level" for a level of a category.
    covariate_columns_ : dict
        The columns that predictions read, and the levels of categories; None for numbers.
    n_outputs_ : int
        T, the number of targets.
    C_ : float
        With C="auto", the chosen C.
    C_scores_ : dict of arrays "C" and "score"
        With C="auto", the candidates and their mean scores, greater is better: minus the loss of an
        example in a fit without it; exact for the squared loss, else to first order.
    metric_ : {source: {"column", "scale", "share"}}
        With kernels that have metric="learn": for each source, the columns that its kernels see, their scales, all 1 if
        no round was kept, and their shares in the mean distance between examples.
    predictor_ : Predictor
        The support examples and their kernels, from which decisions are computed.
    tasks_ : array
        The tasks of the training data, if kernels are `multi_task`.
    log_marginal_likelihood_, stationarity_, noise_ : float
        With EmpiricalBayes; `noise_` is σ².
    support_weight_ : array (n_support,)
        With EmpiricalBayes, the sample weights of the support examples.
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

    loss: str | Loss = "squared"
    epsilon: float | None = None
    q: float | None = None
    fit_intercept: bool = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X, y, sample_weight=None, task=None, covariates=None):
        """The `Examples` of a fit; sets `n_outputs_`."""
        self._check_params()
        C = check_C(self.C)
        loss = self._loss()
        given = self._check_data(X, y, sample_weight, task, covariates)
        Y = np.ascontiguousarray(np.atleast_2d(given.Y.astype(np.float64).T))
        self.n_outputs_ = len(Y)
        return replace(given, Y=Y, c=C * given.weight, loss=loss, C=C, intercept=self.fit_intercept)

    def _check_y(self, y):
        return check_y(self, to_host(y)[0], numeric=True, several=True)

    def _loss(self):
        """The `Loss`, with epsilon or q; a ValueError if one is set that the loss does not have."""
        return check_loss_of(self, "real", PARAMETER_OF, also=("poisson",))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The fitted model of a state of `to_state`; old files have epsilon = 0.1 with every loss."""
        params = state.get("parameters")
        if isinstance(params, dict) and params.get("epsilon") == 0.1 and str(params.get("loss")) != EPSILON_LOSS:
            params["epsilon"] = None
        return super().from_state(state)

    def predict(
        self, X: Any, task: ArrayLike | None = None, covariates: Any = None, *, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Σ_m f_m(x) + zᵀw + b, (n,), or (n, T) for T targets; the expected count e^f with loss="poisson".

        Parameters
        ----------
        X : the new examples
        task : (n,), their tasks, if kernels are `multi_task`
        covariates : (n, q), if the model was fitted with them
        return_std : whether to return the posterior standard deviation of f(x), for regularizer=EmpiricalBayes(...):
            √(k(x, x) − k(x, X)(K + σ²W⁻¹)⁻¹k(X, x)) at the learned weights and noise, with b taken as known. A new
            observation has √(std² + noise_). Each call needs the kernels between all n training examples,
            n² + 2 n n_new float64 numbers, and their Cholesky factor.

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
        >>> bool(std[0] < 0.1 < std[1])  # the second example is far from the training examples
        True
        """
        decision = losses.get(self.loss).mean(self._decide(X, task, covariates))
        mean = decision if self.n_outputs_ > 1 else decision[:, 0]
        if not return_std:
            return mean
        if optional(self, "noise_") is None:
            raise ValueError(
                f"return_std=True needs a Gaussian posterior, which regularizer={self.regularizer!r} does not have: "
                'fit with regularizer=EmpiricalBayes(noise="learn"), loss="squared".'
            )
        std = np.sqrt(posterior_variance(self, self._new_X(X, task))[:, 0])
        return mean, std if self.n_outputs_ == 1 else np.repeat(std[:, None], self.n_outputs_, axis=1)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        covariates: Any = None,
    ) -> float:
        """R², the predicted share of the variance of y; the mean over the targets.

        With loss="quantile" or "poisson" it is 1 − (the loss of f) / (the loss of the best constant).
        """
        from sklearn.metrics import r2_score

        X, y, covariates = scored_targets(self, X, y, sample_weight, task, covariates)
        if not losses.get(self.loss).own_score:
            guess = self.predict(X, task, covariates)
            return r2_score(y, guess, sample_weight=check_weight(sample_weight, len(guess)))
        f = self._decide(X, task, covariates)
        true, weight = np.asarray(y, dtype=float).reshape(f.shape), check_weight(sample_weight, len(f))
        return loss_saved(self._loss(), true, f, weight)


def loss_saved(loss: Loss, y: np.ndarray, f: np.ndarray, weight: np.ndarray) -> float:
    """1 − Σ w V(y, f) / min_b Σ w V(y, b) of targets and decisions (n, T); the mean over T."""
    shares = []
    for y_t, f_t in zip(y.T, f.T, strict=True):
        b, own = loss.intercept(y_t, np.zeros_like(y_t), weight), weight @ loss.value(y_t, f_t)
        best = weight @ loss.value(y_t, np.full_like(y_t, b))
        shares.append(1.0 - own / best if best > 0 else float(own == 0))
    return float(np.mean(shares))
