from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import losses
from .._parts import declared_by_keyword
from ..kernels.rows import check_beside
from ..kernels.view_data import n_examples
from ..losses.base import Loss
from ..losses.coupled import STRATUM
from .base import MKLBase
from .check_targets import check_loss_of, check_weight
from .choose_c import check_C
from .cross_validated import CrossValidated
from .path import HasPath
from .survival_times import StepFunction, concordance, read_times

SAME_TIME = 1e-9  # relative: an own event is not missed because f is rounded
PARAMETER_OF = {"cox": "ties", "log_time": "epsilon"}  # parameters of losses that the estimators have


@declared_by_keyword
class MKLSurvival(HasPath, MKLBase):
    """Learns the risk of an event, from times that may be censored, and the weights of its kernels together.

    min over f_m, θ ≥ 0:  C L(y, Σ_m f_m) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    L is minus the logarithm of Cox's partial likelihood: the hazard of an example is h₀(t) e^{f(x)}, with any h₀. With
    one linear kernel this is Cox's regression with a ridge penalty. The loss "ranking" instead is the squared hinge of
    f_i − f_j for all pairs in which i has its event before the time of j, and "log_time" predicts the logarithm of the
    time, with an intercept; its risk is −f.

    y has an event (True, or False where the time is censored) and a time for each example: `survival_targets(event,
    time)`, scikit-survival's structured array, an array of the two columns event and time, or a frame with columns of
    these names (lifelines' E and T, status, duration and others).

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, as in `MKLRegressor`
    regularizer : float or Regularizer, default 2, as in `MKLRegressor`
    loss : "cox", "ranking", "log_time" or Loss, default "cox"
    ties : "efron", "breslow" or None, default None
        How loss="cox" counts events at the same time, None for "efron"; not allowed with other losses.
    epsilon : float or None, default None
        ε of loss="log_time", None for 0.1; not allowed with other losses.
    C : float or "auto", default "auto"
        Factor of the loss, multiplied with sample_weight. "auto" chooses 0.1, 1, 10 or 100 within the fit by
        approximate leave-one-out decisions: with loss="cox" and "ranking" the least C whose score is within half a
        standard error of the best.
    normalize, slack, solver, psd, features, approximation, rank, tol, max_iter, memory_limit, device, n_jobs, \
    random_state, verbose, warm_start, checkpoint : as in `MKLRegressor`
        With loss="cox" and "ranking" a fit needs the combined kernel of all examples in memory, and takes time with the
        cube of their number. Solvers that need a sum over examples refuse them.

    Attributes
    ----------
    unique_times_ : array (U,)
        The times of the training examples, where predicted functions may step.
    baseline_times_, baseline_hazard_ : arrays (B,) and (S, B)
        The cumulative hazard at f = 0 of each stratum, by Breslow's estimator; B = U. With covariates, f = 0 where
        they have their mean and the kernels add nothing: `intercept_` is −wᵀ times this mean. With loss="log_time",
        that of time / e^f, by Nelson and Aalen. loss="ranking" has none, and no survival functions.
    strata_ : array (S,)
        The strata, in the order of the rows of `baseline_hazard_`; a single 0 without strata.
    n_events_ : int
        The number of events.
    kernel_weights_, kernel_names_, kernels_chosen_, slack_weight_, normalize_, kernel_scale_, \
    kernel_scale_error_, duality_gap_, objective_, n_iter_, \
    history_, support_, dual_coef_, intercept_, covariate_coef_, covariate_names_, \
    covariate_columns_, C_, C_scores_, predictor_, tasks_, n_features_in_, \
    feature_names_in_, view_feature_names_in_ : as in `MKLRegressor`
        `objective_` counts L from 0, its value where every event has the largest risk of those at risk.

    Examples
    --------
    >>> from manykernels import MKLSurvival
    >>> from manykernels.datasets import make_survival
    >>> from manykernels.kernels import RBF
    >>> X, y = make_survival(200, seed=0)
    >>> kernels = [(source, RBF("scale"), source) for source in X]
    >>> model = MKLSurvival(kernels).fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-3), bool(model.score(X, y) > 0.7)
    (True, True)
    >>> first = model.predict_survival_function(X)[0]
    >>> bool(first(0.0) == 1.0), bool(first(first.x[-1]) < 1.0)
    (True, True)
    """

    file_tag = ("estimator/survival", 1)

    loss: str | Loss = "cox"
    ties: str | None = None
    epsilon: float | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        *,
        covariates: Any = None,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Learn from X and the times y; `strata` (n,) are groups with a baseline hazard of their own.

        Strata may also be a third field or column of y, which folds of a cross-validation then keep. `task` (n,) names
        the task of each example if kernels are `multi_task`.

        `covariates` (n, q), a frame, a dict of columns or an array, such as age and sex, are adjusted for and not
        penalised: the risk is Σ_m f_m(x) + zᵀw. Columns that are not numbers are categories. Predictions need them too.
        """
        return self._fit(self._read(X, y, sample_weight, task, covariates, strata))

    def _read(self, X, y, sample_weight=None, task=None, covariates=None, strata=None):
        """The `Examples` of a fit; sets `unique_times_` and `strata_`."""
        self._check_params()
        C, loss = check_C(self.C), check_loss_of(self, "survival", PARAMETER_OF)
        given = self._check_data(X, y, sample_weight, task, covariates, strata)
        y, weight = given.Y, given.weight
        if not y["event"][weight > 0].any():
            raise ValueError(
                f"y has no event among {int((weight > 0).sum())} examples with weight: all times are censored, and "
                "nothing can be learned; check that event is True where the event was seen, or add examples."
            )
        sign, strata = np.where(y["event"], 1.0, -1.0), "stratum" in y.dtype.names
        self.unique_times_ = np.unique(y["time"][weight > 0])
        self.strata_, at = np.unique(y["stratum"], return_inverse=True) if strata else (np.zeros(1), 0)
        if loss.coupled:  # the order of the times is all that it needs
            Y = sign * (np.searchsorted(self.unique_times_, y["time"]) + 1.0 + STRATUM * at)
        elif strata:
            raise ValueError(
                f"strata are given, but loss={loss.name!r} does not compare examples: take loss='cox' or 'ranking'."
            )
        else:
            if zero := int((y["time"] == 0).sum()):
                raise ValueError(
                    f"time is 0 for {zero} examples, and loss='log_time' needs its logarithm: leave these examples "
                    "out, or take loss='cox'."
                )
            Y = sign * y["time"]
        return replace(given, Y=Y[None], c=C * weight, loss=loss, C=C, intercept=loss.takes_intercept)

    def _check_y(self, y, strata=None):
        return read_times(y, strata)

    def _store(self, plan, solved):
        super()._store(plan, solved)
        self.n_events_ = int(np.sum(~np.signbit(plan.examples.Y[0]) & (plan.examples.weight > 0)))
        if not plan.examples.loss.timeless:
            self._store_baseline(plan, solved)

    def _store_baseline(self, plan, solved):
        bank, _, (solution,) = solved
        support = solution.support
        f = bank.outputs(solution.theta, solution.a[:, support], support)[0] + self.intercept_[0]
        if plan.examples.covariates is not None:
            f = f + plan.examples.covariates.Z @ self.covariate_coef_[0]
        y, weight, times = plan.examples.Y[0], plan.examples.weight, self.unique_times_
        event, at = ~np.signbit(y), np.zeros(len(y), int)
        if plan.examples.loss.coupled:
            at = np.floor(np.abs(y) / STRATUM).astype(int)
            order = (np.abs(y) - STRATUM * at).astype(int)
            time = times[np.minimum(order, len(times)) - 1]  # those without weight may come later
            risk = np.exp(f)
        else:
            time, risk = np.abs(y) / np.exp(f), np.ones(len(y))
            times = np.unique(time[weight > 0])
        self.baseline_times_ = times
        self.baseline_hazard_ = np.stack([
            cumulative_hazard(times, *(part[at == s] for part in (event, time, weight, risk)))
            for s in range(len(self.strata_))
        ])  # fmt: skip

    def predict(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """The risk of each example, (n,): f(x), for "cox" the logarithm of its hazard; −f for "log_time"."""
        decision = self._decide(X, task, covariates)[:, 0]
        return decision if self._gives_risk() else -decision

    def _gives_risk(self):
        """Whether f is a risk, and not the logarithm of a time."""
        return losses.get(self.loss).coupled

    def predict_cumulative_hazard_function(
        self,
        X: Any,
        task: ArrayLike | None = None,
        covariates: Any = None,
        *,
        strata: ArrayLike | None = None,
        return_array: bool = False,
    ) -> np.ndarray:
        """The cumulative hazard of each example, H₀(t) e^{f(x)}, as in scikit-survival.

        Parameters
        ----------
        X : the new examples
        task : (n,), their tasks, if kernels are `multi_task`
        covariates : as in fit, if the model has covariates
        strata : (n,), their strata, if the model has several
        return_array : whether to return the values at `unique_times_`, (n, U)

        Returns
        -------
        array (n,) of `StepFunction`, or array (n, U)
        """
        hazards = self._hazards(X, task, covariates, strata)
        return hazards if return_array else self._functions(hazards, 0.0)

    def predict_survival_function(
        self,
        X: Any,
        task: ArrayLike | None = None,
        covariates: Any = None,
        *,
        strata: ArrayLike | None = None,
        return_array: bool = False,
    ) -> np.ndarray:
        """The probability that the event comes later than t, exp(−H₀(t) e^{f(x)}), as in scikit-survival.

        Parameters
        ----------
        X : the new examples
        task : (n,), their tasks, if kernels are `multi_task`
        covariates : as in fit, if the model has covariates
        strata : (n,), their strata, if the model has several
        return_array : whether to return the values at `unique_times_`, (n, U)

        Returns
        -------
        array (n,) of `StepFunction`, or array (n, U)
        """
        survival = np.exp(-self._hazards(X, task, covariates, strata))
        return survival if return_array else self._functions(survival, 1.0)

    def _functions(self, values, before):
        found = np.empty(len(values), dtype=object)
        for i, row in enumerate(values):
            found[i] = StepFunction(self.unique_times_, row, before)
        return found

    def _hazards(self, X, task, covariates, strata):
        """The cumulative hazards at `unique_times_`, (n, U)."""
        check_is_fitted(self)
        if losses.get(self.loss).timeless:
            raise ValueError(
                f"loss={losses.get(self.loss).name!r} orders the examples by risk and has no hazard: take loss='cox' "
                "for survival functions."
            )
        check_beside(X, dict(task=task, covariates=covariates), strata=strata)
        at = self._strata_of(strata, n_examples(X))
        f = self._decide(X, task, covariates)[:, 0]
        if self._gives_risk():
            return np.exp(f)[:, None] * self.baseline_hazard_[at]
        scaled = self.unique_times_ / np.exp(f)[:, None] * (1 + SAME_TIME)
        known = np.append(0.0, self.baseline_hazard_[0])
        return known[np.searchsorted(self.baseline_times_, scaled, side="right")]

    def _strata_of(self, strata, n):
        """The row of `baseline_hazard_` of each of n examples."""
        if strata is None and len(self.strata_) > 1:
            raise ValueError(
                f"the model has {len(self.strata_)} strata, each with its own baseline hazard: give strata, a label "
                "for each example."
            )
        if strata is None:
            return np.zeros(n, int)
        strata = np.asarray(strata, dtype=None if hasattr(strata, "dtype") else object)  # a list may mix types
        row = {label: k for k, label in enumerate(self.strata_.tolist())}
        labels = strata.tolist() if strata.ndim == 1 else []
        unknown = [label for label in labels if label not in row]
        if unknown or len(labels) != n:
            what = f"the label {unknown[0]!r}, which fit has not seen" if unknown else f"shape {strata.shape}"
            raise ValueError(f"strata has {what}: give one of {list(row)[:10]} for each of {n} examples.")
        return np.array([row[label] for label in labels], int)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        covariates: Any = None,
        strata: ArrayLike | None = None,
    ) -> float:
        """Harrell's concordance index: the share of comparable pairs in the right order of risk, 0.5 by chance.

        Examples of two strata are not comparable; `strata` (n,) are those of y, if y does not hold them.
        """
        check_beside(X, dict(task=task, covariates=covariates), y=y, sample_weight=sample_weight, strata=strata)
        y = read_times(y, strata)
        if len(self.strata_) > 1 and "stratum" not in y.dtype.names:
            raise ValueError(
                f"the model has {len(self.strata_)} strata, whose examples are not compared with those of others: give "
                "strata, or y = survival_targets(event, time, strata)."
            )
        weight = None if sample_weight is None else check_weight(sample_weight, len(y))
        return concordance(y, self.predict(X, task, covariates), weight)


@declared_by_keyword
class MKLSurvivalCV(CrossValidated, MKLSurvival):  # type: ignore[misc]  # strata are part of y
    """`MKLSurvival` with C and the regularizer chosen by cross-validation.

    Folds share kernels as in `MKLClassifierCV`, and each has its share of the events. Strata are a third field or
    column of y.

    Parameters
    ----------
    kernels : "auto", "precomputed", or a list of kernels, as in `MKLSurvival`
    Cs : int or list of float, default 10
        A list of values, all of which are run, or the number of values, log-spaced from 0.01 to 100, of which some are
        run, as in `MKLClassifierCV`.
    regularizer : a regularizer of `MKLSurvival` or a list of them, default (1, 2, inf)
    cv : None for 5 shuffled folds, a number of folds, a splitter of scikit-learn, a list of (train, test), or "loo"
    scoring : None for `score` of `MKLSurvival`, the concordance, or a function (model, X, y)
    refit : "best", "1se" or a function, default "best"
        As in `MKLClassifierCV`.
    loss, ties, epsilon, normalize, slack, solver, psd, features, approximation, rank, tol, max_iter, memory_limit, \
    device, n_jobs, random_state, verbose : as in `MKLSurvival`

    Attributes
    ----------
    C_, regularizer_, best_params_ : the chosen values
    best_score_ : its mean score over the folds, which is optimistic, since it decided the choice
    searched_ : the number of candidates that were run, which the saved model keeps
    best_index_ : its place in `cv_results_`
    cv_results_ : a dict of arrays, as of `MKLClassifierCV`
    best_estimator_ : the chosen model as an `MKLSurvival`
    Cs_, n_splits_, refit_time_ : the values of C, the number of folds, seconds of the last fit

    All attributes of `MKLSurvival` describe the chosen model, fitted on all data.

    Examples
    --------
    >>> from manykernels import MKLSurvivalCV
    >>> from manykernels.datasets import make_survival
    >>> from manykernels.kernels import RBF
    >>> X, y = make_survival(100, seed=0)
    >>> kernels = [(source, RBF("scale"), source) for source in X]
    >>> model = MKLSurvivalCV(kernels, Cs=[0.1, 1], regularizer=[1, 2], cv=3).fit(X, y)
    >>> model.kernel_weights_.shape
    (3,)
    """

    _plain = MKLSurvival


def cumulative_hazard(
    times: np.ndarray, event: np.ndarray, time: np.ndarray, weight: np.ndarray, risk: np.ndarray
) -> np.ndarray:
    """Σ_{t_k ≤ t} (weight of the events at t_k) / Σ_{at risk at t_k} w_j risk_j at the `times`, Breslow's estimator."""
    place = np.searchsorted(times, time)
    place, w = np.minimum(place, len(times) - 1), np.where(time <= times[-1], weight, 0.0)
    deaths = np.bincount(place[event], w[event], len(times))
    at_risk = np.cumsum(np.bincount(place, w * risk, len(times))[::-1])[::-1]
    return np.cumsum(np.divide(deaths, at_risk, out=np.zeros(len(times)), where=deaths > 0))
