"""Fits a case and judges what came of it: does the model's own certificate hold when computed anew from its parts?

Recomputed in extended precision from the kernel formulas and their scales, θ, a and b:

    f = Σ_m θ_m K_m a + b ,   q_m = aᵀK_m a ,   gap = (Σ c V + total·b + ½ θᵀq + Ω(θ) − dual) / scale

A float64 evaluation is off by at most κu A in each kernel value (u = 2⁻⁵³, κ = 4 (n + 64), A the sizes that
`kernels` states), so f by E_i = κu Σ_m θ_m Σ_j |a_j| A_m(i, j) and q_m by κu |a|ᵀA_m|a|. Carried through losses, Ω and
Ω*, and with the rounding of the sums themselves, that bounds what rounding can do to the gap. A reported gap further
below the recomputed one than this bound is dishonest.
"""

import linecache
import resource
import signal
import time
import traceback
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight

from manykernels import kernels as mk
from manykernels import losses
from manykernels import regularizers as mr
from manykernels.banks.dense import SomeDoNotVary
from manykernels.kernels.new_data import NewDataWarning

from ..small_blocks import small_blocks
from . import BAD
from .kernels import normalise

LIMIT = 12.0  # seconds of CPU that a fit of at most 120 examples may take
UNIT = 2.0**-53


class TimeUp(BaseException):
    """The case has used up its time."""


def judge(case):
    """A dict with the outcome of the case: "converged", "unconverged", "refused", or one of BAD, with its reason."""
    verdict = _judge(case)
    if verdict["outcome"] == "slow":  # not because its loops were compiled
        verdict = _judge(case)
    return verdict


def _judge(case):
    started = time.process_time()
    signal.signal(signal.SIGPROF, _time_up)
    signal.setitimer(signal.ITIMER_PROF, 2.5 * LIMIT)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with small_blocks(case.told["number"]):
                model = case.estimator.fit(case.X, case.y, sample_weight=case.weight)
                seconds = time.process_time() - started
                decision = _decide(model, case)
    except TimeUp:
        return {"outcome": "slow", "seconds": time.process_time() - started, "why": "stopped"}
    except Exception as error:
        kind = "refused" if _meant(error) else "crash"
        return {"outcome": kind, "seconds": time.process_time() - started, "why": _where(error)}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    verdict = {"seconds": seconds, "gap": model.duality_gap_, "steps": model.n_iter_}
    if seconds > LIMIT:
        return verdict | {"outcome": "slow", "why": f"{seconds:.0f} s"}
    return verdict | _weigh(case, model, decision, caught)


def _time_up(*_):
    raise TimeUp


def _decide(model, case):
    """The decisions (T, n) on the training data, or None where a stack lacks what new data need."""
    if case.told["form"].startswith("stack") and case.told["normalize"] == "spherical":
        diagonals = getattr(case.X, "test_diagonals", None)
        if diagonals is None:
            return None
    return np.atleast_2d(np.asarray(model._decide(case.X)).T)


def _meant(error):
    """Whether this is a ValueError that somebody wrote, not one that fell out of an expression."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    ours = "manykernels" in frame.filename or "sklearn" in frame.filename
    return isinstance(error, ValueError) and ours and line.startswith("raise")


def _where(error):
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "manykernels" in f.filename] or [None]
    at = frames[-1] and f" ({frames[-1].filename.split('manykernels/')[-1]}:{frames[-1].lineno})"
    return f"{type(error).__name__}: {str(error)[:160]}{at or ''}"


def _weigh(case, model, decision, caught):
    told = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    ours = [w for w in caught if w.category in (UserWarning, SomeDoNotVary, NewDataWarning)]
    leaks = [w for w in caught if w not in told and w not in ours]
    # EmpiricalBayes has no gap but a stationarity
    reached = getattr(model, "stationarity_", model.duality_gap_) <= model.tol
    if reached == bool(told):
        why = f"gap {model.duality_gap_:.2e}, tol {model.tol:.2e}, {len(told)} warnings"
        return {"outcome": "inconsistent", "why": why}
    if not np.isfinite(model.kernel_weights_).all() or (model.kernel_weights_ < 0).any():
        return {"outcome": "wrong", "why": f"weights {model.kernel_weights_}"}
    found = {"outcome": "converged" if reached else "unconverged", "why": str(told[0].message) if told else ""}
    found["rough"] = any("rounding alone" in str(w.message) for w in told + ours)
    try:
        with np.errstate(all="ignore"):
            found |= _recompute(case, model, decision, ours)
    except np.linalg.LinAlgError as error:
        found["why"] += f" (not judged: {error})"
    if leaks and found["outcome"] not in BAD:
        found |= {"outcome": "leak", "why": f"{leaks[0].category.__name__}: {leaks[0].message} ({leaks[0].filename})"}
    return found


def _recompute(case, model, decision, ours):
    """The recomputed gap, the bound of its rounding, and a bad outcome where the model's own does not hold."""
    parts = list(targets(case, model))
    n, (rows, weight) = case.told["n"], case.taken()
    w = weight[rows].astype(np.longdouble)
    lost = {name for message in ours if "without variance" in str(message.message) for name in model.kernel_names_
            if repr(name) in str(message.message)}  # fmt: skip
    usable = np.array([name not in lost for name in model.kernel_names_])
    weights = np.atleast_2d(model.kernel_weights_)
    matrices = case.kernel_matrices(rows, w)
    exempt = [isinstance(part, tuple) and part[0].exempt for part in case.parts]
    kappa = 4 * (n + 64) * UNIT
    if case.told["form"] == "strings" and case.told["solver"] == "coordinate":
        kappa = 2.0**-23  # their explicit features are kept in float32
    Ks, As = {}, {}
    for m in np.flatnonzero(usable):
        own = None if exempt[m] else case.told["normalize"]
        normal = normalise(*matrices[m], own, w, model.kernel_scale_[m], kappa)
        if normal is None:
            return {"outcome": "wrong", "why": f"scale {model.kernel_scale_[m]!r} of kernel {m} is not its own"}
        Ks[m], As[m] = normal
    found = {"recomputed": 0.0, "bound": 0.0}
    total_primal, slack = 0.0, 0.0
    if getattr(model, "stationarity_", None) is not None:
        return {}
    for k, (solution, (Y, c)) in enumerate(zip(model._solutions, parts, strict=True)):
        theta = weights[min(k, len(weights) - 1)]
        omega = mr.get(case.estimator.regularizer)
        omega = mr.Fixed(theta) if isinstance(omega, mr.TwoStage) else omega
        kernels = np.flatnonzero(usable)
        point = Point(loss_of(model), omega.restrict(kernels, len(usable)), Y, c, intercept_of(model))
        given = theta[kernels], solution.a, solution.b, solution.dual_a
        value = point.certificate(*given, [Ks[m] for m in kernels], [As[m] for m in kernels], kappa)
        if point.omega.only(len(kernels)) is not None:  # the sum of the kernels is all there is
            point.summed, point.omega = True, mr.Fixed(given[0])
            other = point.certificate(*given, [Ks[m] for m in kernels], [As[m] for m in kernels], kappa)
            least = min(value["gap"], other["gap"])
            value = min(value, other, key=lambda one: abs(one["primal"] - solution.primal)) | {"gap": least}
        total_primal, slack = total_primal + value["primal"], slack + value["primal_error"]
        if solution.gap < value["gap"] - value["bound"]:  # NaN claims nothing
            why = f"reported {solution.gap:.3e}, recomputed {value['gap']:.3e} ± {value['bound']:.1e}"
            return {"outcome": "dishonest", "recomputed": value["gap"], "bound": value["bound"], "why": why}
        found["recomputed"] = max(found["recomputed"], value["gap"])
        found["bound"] = max(found["bound"], value["bound"])
        known = not any(isinstance(part, tuple) and _has_identity(part[0]) for part in case.parts)
        if decision is not None and known and len(rows) == n:
            ours_now = decision[k : k + len(Y)] if len(parts) > 1 else decision
            b = solution.b[:, None] if case.told["loss"] != "level_set" else -1.0
            b = b + np.reshape(getattr(model, "intercept_shift_", 0.0), (-1, 1))[k : k + len(Y)]
            error = np.abs(ours_now - np.asarray(value["outputs"] + b, float))
            size = np.asarray(np.abs(value["outputs"]) + np.abs(b), float)  # the two may cancel
            allowed = 8 * value["E"] + 1e-9 * np.abs(ours_now) + 4 * UNIT * size + 1e-290
            if not np.all(error <= allowed):
                i = np.unravel_index(np.argmax(error - allowed), error.shape)
                return {"outcome": "wrong", "why": f"decision off by {error[i]:.2e}, rounding allows {allowed[i]:.2e}"}
    same = model.objective_ == total_primal  # both may be infinite: then nothing is claimed
    if not same and not abs(model.objective_ - total_primal) <= slack + 1e-9 * abs(total_primal):
        return {"outcome": "wrong", "why": f"objective {model.objective_!r}, recomputed {total_primal!r} ± {slack:.1e}"}
    return found


def _has_identity(kernel):
    pair = isinstance(kernel, mk.Sum | mk.Product)
    return _has_identity(kernel.k1) or _has_identity(kernel.k2) if pair else isinstance(kernel, mk.Identity)


def loss_of(model):
    if not hasattr(model, "loss"):
        return losses.get("level_set" if model.formulation == "level_set" else "one_class")
    epsilon = getattr(model, "epsilon", None)
    return losses.get(model.loss, **({} if epsilon is None else {"epsilon": epsilon}))


def intercept_of(model):
    return getattr(model, "fit_intercept", getattr(model, "formulation", "") != "level_set")


def C_of(model):
    return model.C_ if model.C == "auto" else model.C


def targets(case, model):
    """(Y (T, n), c (T, n)) of each problem that was solved, on the rows that take part."""
    rows, weight = case.taken()
    if case.told["kind"] == "one_class":
        level = model.formulation == "level_set"
        c = model.C * weight if level else weight / (model.nu * weight.sum())
        return [(np.ones((1, len(rows))), c[None, rows])]
    if case.told["kind"] == "real":
        return [(case.y[None, rows].astype(float), (C_of(model) * weight)[None, rows])]
    classes, codes = np.unique(case.y, return_inverse=True)
    kept = weight > 0
    present = np.unique(codes[kept])
    of_class = np.ones(len(classes))
    of_class[present] = compute_class_weight(
        model.class_weight, classes=classes[present], y=case.y[kept], sample_weight=weight[kept]
    )
    c = (C_of(model) * weight * of_class[codes])[rows]
    positive = [1] if len(classes) == 2 else range(len(classes))
    Y = np.array([np.where(codes[rows] == k, 1.0, -1.0) for k in positive])
    if len(Y) == 1 or model.multi_class == "shared":
        return [(Y, np.tile(c, (len(Y), 1)))]
    return [(y[None], c[None]) for y in Y]


class Point:
    """The problem, to be evaluated at a point: nothing here is shared with `manykernels.problem`."""

    summed = False  # whether negative norms of single kernels count, as in the sum of the kernels

    def __init__(self, loss, omega, Y, c, intercept):
        self.loss, self.omega, self.Y, self.c, self.intercept = loss, omega, Y, c, intercept

    def certificate(self, theta, a, b, dual_a, Ks, As, kappa):
        q, dq = self._norms(a, Ks, As, kappa)
        f = sum(t * (a @ K) for t, K in zip(theta, Ks, strict=True) if t > 0) + np.zeros(a.shape)
        E = kappa * np.asarray(sum(t * (np.abs(a) @ A) for t, A in zip(theta, As, strict=True) if t > 0), float)
        E = E + np.zeros(a.shape)
        shift = np.asarray(b, float)[:, None]
        risk, dr = self._risk(np.asarray(f + shift, float), E + UNIT * 4 * np.abs(shift))
        norms, penalty = self.omega.penalty(theta, q)
        offset = self.loss.total * float(np.sum(b))
        primal = risk + offset + norms + penalty
        dnorms = abs(self.omega.penalty(theta, q + dq)[0] - norms)
        best_dual = a if dual_a is None else dual_a
        if dual_a is not None:
            q, dq = self._norms(best_dual, Ks, As, kappa)
        dual, ddual = self._dual(best_dual, q, dq)
        ddual += kappa * sum(
            float(np.sum(c[c > 0] * np.abs(self.loss.conjugate(y[c > 0], -a_t[c > 0] / c[c > 0]))))
            for y, c, a_t in zip(self.Y, self.c, best_dual, strict=True)
        )
        if isinstance(self.omega, mr.Separable):  # known by its block norm only, and computed to some digits
            ddual += 1e-7 * (abs(penalty) + abs(norms) + abs(dual))
        scale = max(risk + norms + abs(penalty) + abs(offset), self._floor(), 1e-300)
        if self.intercept:  # P ≥ dual + b (total − Σa) for the best b, which is near this one
            dual += float(np.sum(np.asarray(b) * (self.loss.total - best_dual.astype(np.longdouble).sum(axis=1))))
            ddual += kappa * float(np.sum(np.abs(best_dual).sum(axis=1) * np.abs(b)))
        sums = kappa * (abs(risk) + abs(offset) + abs(norms) + abs(penalty) + abs(dual))
        primal_error = dr + dnorms + sums
        return {
            "primal": primal, "primal_error": primal_error, "gap": (primal - dual) / scale, "E": E, "outputs": f,
            "bound": (primal_error + ddual) / scale + 1e-9 * max((primal - dual) / scale - 1, 0),  # above 1 in ratio
        }  # fmt: skip

    def _floor(self):
        """What a gap is relative to at least: 1e-12 Σ c, for least squares in the unit of y² (docs/theory-problem.md).

        There s y has the objective s², so that Σ c says nothing of its size: the best constant has Σ c (y − ȳ)².
        """
        if not self.loss.gaussian:
            return 1e-12 * float(self.c.sum())
        mean = (self.c * self.Y).sum(axis=1) / np.maximum(self.c.sum(axis=1), 1e-300)
        off = self.Y - mean[:, None] if self.intercept else self.Y
        return float(np.sum(self.c * (1e-12 * off**2 + 1e-24 * self.Y**2)))

    def _norms(self, a, Ks, As, kappa):
        q = np.array([float(np.sum((a @ K) * a)) for K in Ks])
        q = q if self.summed else np.maximum(q, 0.0)  # rounding may leave single kernels indefinite
        return q, kappa * np.array([float(np.sum((np.abs(a) @ A) * np.abs(a))) for A in As])

    def _risk(self, f, E):
        value = np.array([c @ self.loss.value(y, g) for y, c, g in zip(self.Y, self.c, f, strict=True)]).sum()
        other = [
            sum(c @ np.abs(self.loss.value(y, g + s * e) - self.loss.value(y, g))
                for y, c, g, e in zip(self.Y, self.c, f, E, strict=True))
            for s in (-1, 1)
        ]  # fmt: skip
        return float(value), float(max(other))

    def _dual(self, a, q, dq):
        def value(q):
            t = self.omega.shrink(0.5 * q)
            conjugates = sum(self.loss.dual_value(y, c, t * a_t) for y, c, a_t in zip(self.Y, self.c, a, strict=True))
            return -conjugates - self.omega.conjugate(0.5 * t * t * q)

        at = value(q)
        return at, max(abs(value(q + dq) - at), abs(value(np.maximum(q - dq, 0.0)) - at))


def memory():
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
