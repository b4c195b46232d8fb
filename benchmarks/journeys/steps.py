"""What a user does with a model: each step is judged by what must hold of its result."""

import pickle
import re
import tempfile

import numpy as np

from manykernels.regularizers import Entropy

from ..small_blocks import small_blocks
from . import certificate
from .grams import lost
from .judge import Ledger, Watch, Wrong, finite, near, same, snapshot
from .longer import Longer
from .objects import frame, notes, pairs, strings, tasks, views
from .plans import plan
from .worlds import sparse, stack, table

WORLDS = (
    [table] * 8 + [sparse] * 2 + [stack] * 4 + [frame] * 4 + [strings] * 3 + [views] * 3 + [notes, pairs, pairs, tasks]
)
CERTIFIED = ("hinge", "logistic", "squared", "epsilon_insensitive")


def journey(seed, limit=5.0):
    """Draw data, an estimator and what follows from the seed, and walk through it: see `small_blocks` too."""
    rng = np.random.default_rng(seed)
    ledger = Ledger(seed)
    world = WORLDS[rng.integers(len(WORLDS))](rng)
    ledger.story.append(world.name)
    if isinstance(world.kernels, list):
        ledger.story.append(f"kernels {world.kernels}")
    chosen = plan(rng, world)
    ledger.story.append(chosen.name)
    with tempfile.TemporaryDirectory() as folder, small_blocks(seed):
        Journey(world, chosen, rng, ledger, folder, limit).walk()
    return ledger


class Journey(Longer):
    """One world, one plan, and the steps."""

    def __init__(self, world, chosen, rng, ledger, folder, limit):
        self.world, self.plan, self.rng, self.ledger, self.folder = world, chosen, rng, ledger, folder
        inputs = {"X": world.X, "y": chosen.y, "new X": world.new, **chosen.weights}
        self.watch = Watch(ledger, inputs, limit)

    def walk(self):
        """Fit, judge the fit, then one to four steps more."""
        timed = not self.plan.search
        model = self.watch("fit" if timed else "search", lambda: self.fit(self.clone()), timed)
        if model is None:
            return
        self.short = any("ConvergenceWarning" in text for text in self.watch.said)
        self.indefinite = any("semidefinite" in text for text in self.watch.said)
        self.model = model
        self.watch("what was fitted", self.fitted)
        decision = self.watch("predict", self.predict)
        if decision is None:
            return
        self.decision = decision
        steps = [self.parts, self.combined, self.saved, self.pickled, self.refitted, self.other_form, self.other_fit]
        steps += [self.permuted, self.checkpoint, self.streamed, self.warm, self.scored, self.probabilities]
        steps += [self.single, self.none, self.shown, self.deviation, self.threaded, self.spoiled]
        slow = [self.relevance, self.bootstrap, self.suggest, self.path, self.cross_validated, self.report, self.tools]
        picked = [steps[i] for i in self.rng.permutation(len(steps))[: self.rng.integers(3, 8)]]
        if self.rng.random() < 0.3 and not self.world.tasks:
            picked.append(slow[self.rng.choice(7, p=[0.25, 0.15, 0.1, 0.2, 0.15, 0.05, 0.1])])
        for step in picked:
            self.watch(step.__name__, step)

    def clone(self):
        """A new estimator of the plan."""
        from sklearn.base import clone

        return clone(self.plan.model)

    def fit(self, model, X=None):
        """Fit on the data of the world, or on others."""
        X = self.world.X if X is None else X
        more = self.plan.weights | ({"task": self.world.tasks[0]} if self.world.tasks else {})
        return model.fit(X, **more) if self.plan.y is None else model.fit(X, self.plan.y, **more)

    def decide(self, model, X):
        """Decisions of a classifier or of a novelty detector, predictions of a regressor.

        X holds the new examples where there are tasks: their number says nothing, there may be as many for training.
        """
        ask = model.decision_function if hasattr(model, "decision_function") else model.predict
        return np.asarray(ask(X, **self.new_task))

    @property
    def new_task(self):
        return {"task": self.world.tasks[1]} if self.world.tasks else {}

    @property
    def bayes(self):
        return "EmpiricalBayes" in repr(self.model.get_params().get("regularizer"))

    # Judgements of the fit

    def fitted(self):
        """Finite numbers, an honest gap, and the certificate where it can be recomputed."""
        model = self.model
        finite("dual_coef_, intercept_ or kernel_weights_", model.dual_coef_, model.intercept_, model.kernel_weights_)
        if np.any(np.asarray(model.kernel_weights_) < 0):
            raise Wrong("a weight is negative")
        if self.bayes:
            return finite("log_marginal_likelihood_", model.log_marginal_likelihood_)
        finite("objective_ or duality_gap_", model.objective_, model.duality_gap_)
        if model.duality_gap_ < -1e-9:
            raise Wrong(f"duality_gap_ is {model.duality_gap_:.3g}")
        if model.duality_gap_ > self.plan.model.tol and not self.short:
            raise Wrong(f"duality_gap_ {model.duality_gap_:.3g} > tol {self.plan.model.tol:.3g}, and no warning")
        if self.certifiable():
            single = "float32" in self.world.name or "float16" in self.world.name
            p, weights = self.plan.settings["p"], self.plan.settings["weights"]
            certificate.check(
                model, self.world.grams(), self.plan.y, weights, p, single, None if self.short else self.tighter
            )

    def tighter(self):
        """The same fit to a hundredth of the gap."""
        return self.fit(self.clone().set_params(tol=self.plan.model.tol / 100, max_iter=10_000))

    def certifiable(self):
        """Whether `certificate` knows the problem."""
        chosen, get = self.plan, self.plan.model.get_params().get
        usual = chosen.settings["p"] and self.world.grams and not chosen.search and chosen.task != "one class"
        plain = not (
            get("slack") or get("class_weight") or get("approximation") or get("features") not in ("auto", "never")
        )
        return bool(
            usual and plain and get("loss") in CERTIFIED and not self.indefinite and get("solver") != "coordinate"
        )

    def predict(self):
        """Predictions of new examples: finite, of the right shape, the sign or the largest of the decisions."""
        model, new = self.model, self.world.new
        decision, predicted = self.decide(model, new), np.asarray(model.predict(new, **self.new_task))
        finite("a decision", decision)
        if self.plan.task in ("classes",):
            if decision.ndim == 1:
                right = np.asarray(model.classes_)[(decision > 0).astype(int)] == predicted
            else:  # of equal decisions, up to rounding, the first
                own = np.where(predicted[:, None] == np.asarray(model.classes_), decision, -np.inf).max(axis=1)
                right = own >= decision.max(axis=1) - 1e-9 * np.abs(decision).max(axis=1)
            if not np.all(right):
                raise Wrong("predict is not the class of the largest decision")
        if self.plan.task == "one class" and not np.array_equal(np.where(decision >= 0, 1, -1), predicted):
            raise Wrong("predict is not the sign of the decision")
        return decision

    # What may follow

    def size(self, X):
        """How large the terms of each decision are together."""
        parts = self.model.decision_parts(X, **self.new_task)
        return np.abs(parts).sum(axis=-1) + np.abs(self.model.intercept_).max() + self.cancelled(X)

    def cancelled(self, X):
        """Σ |a_i| θ K, of which 1e-7 · 1e-6 may be lost where coefficients cancel, or what kernel values lose.

        K is the largest value of the training examples too: kernels of one column are known to 16 units of that
        (docs/reliability.md), also at a new example where they are 0.
        """
        model, share = self.model, 1e-7 + 1e6 * lost(self.world.kernels, self.world.numbers)
        try:
            K = max(np.abs(model.combined_kernel(rows)).max() for rows in (X, self.world.X))
        except (ValueError, TypeError):
            K = 1.0
        return share * float(np.abs(model.dual_coef_).sum(axis=1).max() * K)

    def parts(self):
        """The terms of the decisions add up to them."""
        model, new = self.model, self.world.new
        parts = model.decision_parts(new, **self.new_task)
        finite("decision_parts", parts)
        total = parts.sum(axis=-1) + (model.intercept_ if parts.ndim == 3 else model.intercept_[0])
        near(
            "decision_parts",
            total.reshape(self.decision.shape),
            self.decision,
            self.size(new).reshape(self.decision.shape),
        )

    def combined(self):
        """The combined kernel is symmetric and finite, and gives the decisions of a model of one output."""
        model, X = self.model, self.world.X
        if self.world.tasks:
            return
        K = model.combined_kernel(X)
        finite("combined_kernel", K)
        near("combined_kernel and its transpose", K, K.T, np.abs(K).max() + 1e-300)
        if len(model.dual_coef_) == 1 and not self.bayes and "Identity" not in str(self.world.kernels):
            rounding = lost(self.world.kernels, self.world.numbers)
            f = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
            size = np.abs(K[:, model.support_]) @ np.abs(model.dual_coef_[0]) + abs(model.intercept_[0])
            size += 1e-10 * np.abs(K).max() * np.abs(model.dual_coef_).sum()  # an example far from the support
            near("combined_kernel @ dual_coef_", f, self.decide(model, X).ravel(), size, 1e-5 + rounding)

    def saved(self):
        """A model that is saved and loaded predicts the same, to the bit."""
        import manykernels

        self.model.save(f"{self.folder}/model.mk")
        self.equal(manykernels.load(f"{self.folder}/model.mk"), "a loaded model")

    def pickled(self):
        """So does one that is pickled."""
        self.equal(pickle.loads(pickle.dumps(self.model)), "an unpickled model")

    def refitted(self):
        """A fit is deterministic."""
        self.equal(self.fit(self.clone()), "the same fit again")

    def equal(self, model, what):
        """Wrong unless the decisions are those of this model, to the bit."""
        other = self.decide(model, self.world.new)
        if other.tobytes() != self.decision.tobytes():
            raise Wrong(f"{what} predicts otherwise, by {np.abs(other - self.decision).max():.2g}")

    def other_form(self):
        """Equal values in another dtype or layout have equal predictions."""
        for name, _, new in self.world.forms:
            before = snapshot(new)
            near(f"new X as {name}", self.decide(self.model, new), self.decision, self.size(self.world.new))
            if before is not None and not same(before, new):
                raise Wrong(f"new X as {name} changed in place")

    def other_fit(self):
        """Fitted on equal values in another dtype or layout the objective is the same, within both gaps."""
        if self.world.forms:
            name, X, _ = self.world.forms[self.rng.integers(len(self.world.forms))]
            before = snapshot(X)
            self.level(self.fit(self.clone(), X), f"X as {name}")
            if before is not None and not same(before, X):
                raise Wrong(f"X as {name} changed in place")

    def level(self, model, what):
        """Wrong unless both objectives may be those of one problem."""
        if self.bayes or self.indefinite or not hasattr(model, "objective_"):
            return
        a, b = self.model.objective_, model.objective_
        unsure = sum(max(one.duality_gap_, 0) * self.relative_to(one) for one in (self.model, model)) * 1.01
        if self.short and self.plan.model.max_iter >= 30:
            return  # it has said that rounding decides
        if lost(self.world.kernels, self.world.numbers) >= 1:
            return  # the documented bound leaves no digit of k(x, y), and equal rows may be at any distance
        if not abs(a - b) <= unsure + 1e-6 * max(abs(a), abs(b)) + 1e-12:
            raise Wrong(
                f"{what}: objective {b:.9g} and {a:.9g}, gaps {model.duality_gap_:.2g}, {self.model.duality_gap_:.2g}"
            )

    def relative_to(self, model):
        """What a gap is relative to, at most: Σ c V + ½ Σ ‖f‖²/θ + |Ω| is the objective where Ω ≥ 0, else that − 2Ω.

        With |b| where there is one class (docs/theory-problem.md), whose objective is that sum less or plus b.
        """
        offset = float(np.abs(model.intercept_).max()) if self.plan.task == "one class" else 0.0
        weights = np.atleast_2d(model.kernel_weights_)
        slack = np.broadcast_to(np.ravel(getattr(model, "slack_weight_", 0.0)), len(weights))
        weights = np.column_stack([weights, slack])
        entropy = isinstance(self.plan.model.regularizer, Entropy)
        omega = sum(min(self.plan.model.regularizer.value(theta), 0.0) for theta in weights) if entropy else 0.0
        return max(abs(model.objective_) + 2 * (offset - omega), self.least_scale(model))

    def least_scale(self, model):
        """At most what a gap is relative to where the objective is near 0: 1e-12 Σ c, or in the unit of y²."""
        weights = [w for key, w in self.plan.weights.items() if key == "sample_weight" and w is not None]
        largest = max((float(np.max(w)) for w in weights), default=1.0)
        C = getattr(model, "C_", getattr(model, "C", 1.0))
        y = np.asarray(self.plan.y) if self.plan.y is not None else np.ones(1)
        size = max(1.0, float(np.max(y**2))) if y.dtype.kind == "f" else 1.0
        return 1e-12 * float(np.max(C)) * largest * self.world.n * size

    def permuted(self):
        """The order of the examples does not matter, beyond the gap."""
        if (
            "auto" in str(self.world.kernels)[:5]
            or self.world.tasks
            or self.plan.search
            or "Nystroem" in str(self.world.kernels)
        ):
            return
        order = self.rng.permutation(self.world.n)
        if (
            self.plan.model.get_params().get("approximation")
            or "Ball" in self.plan.name
            or "BestSingle" in self.plan.name
        ):
            return
        X, weights = self.world.take(self.world.X, order), self.plan.weights
        weights = {key: np.asarray(value)[order] for key, value in weights.items()}
        y = () if self.plan.y is None else (np.asarray(self.plan.y)[order],)
        model = self.clone()
        if hasattr(self.model, "C_"):  # the fitted model's own: under a memory limit a sample chooses C
            model.set_params(C=self.model.C_)
        self.level(model.fit(X, *y, **weights), "examples in another order")

    def checkpoint(self):
        """A fit that is cut off goes on from its file; once done, its result comes from there."""
        if self.plan.search:
            return
        path, few = f"{self.folder}/fit.ckpt", int(self.rng.integers(1, 4))
        whole = self.plan.model.max_iter
        self.fit(self.clone().set_params(checkpoint=path, max_iter=min(few, whole)))
        model = self.fit(self.clone().set_params(checkpoint=path))
        self.level(model, "resumed")
        again = self.fit(self.clone().set_params(checkpoint=path))
        if self.decide(again, self.world.new).tobytes() != self.decide(model, self.world.new).tobytes():
            raise Wrong("a finished checkpoint gives another model")

    def streamed(self):
        """Read from files, the fit has the same objective and the model the same predictions."""
        if self.world.sources is None or self.plan.task in ("labels", "targets"):
            return
        for name, source, new in self.world.sources(self.folder):
            near(f"new examples from {name}", self.decide(self.model, new), self.decision, self.size(self.world.new))
            model = self.fit(self.clone(), source)
            finite("a decision of a streamed model", self.decide(model, self.world.new))
            self.level(model, f"X from {name}")

    def warm(self):
        """A warm start ends at the same objective."""
        if not self.plan.search:
            model = self.fit(self.clone().set_params(warm_start=True))
            if not isinstance(model.get_params().get("random_state"), np.random.RandomState):
                self.level(self.fit(model), "warm start")  # a generator draws other features in the second fit

    def scored(self):
        """A score is finite and at most 1."""
        if self.plan.y is not None:
            task = {"task": self.world.tasks[0]} if self.world.tasks else {}
            score = self.model.score(self.world.X, self.plan.y, **self.plan.weights, **task)
            if not score <= 1 + 1e-12:
                raise Wrong(f"score {score}")

    def probabilities(self):
        """Probabilities lie between 0 and 1, and those of classes sum to 1."""
        if self.plan.task in ("classes", "labels") and hasattr(self.model, "predict_proba"):
            P = self.model.predict_proba(self.world.new, **self.new_task)
            finite("predict_proba", P)
            if P.min() < 0 or P.max() > 1:
                raise Wrong("a probability beyond [0, 1]")
            if self.plan.task == "classes":
                near("the sum of probabilities", P.sum(axis=1), np.ones(len(P)), 1.0, 1e-9)

    def single(self):
        """One example at a time has the decision that it has among others."""
        if isinstance(self.world.new, dict) or self.world.tasks:
            return
        size = np.atleast_1d(self.size(self.world.new))
        for row in range(min(len(self.decision), 2)):
            one = self.decide(self.model, self.world.rows(self.world.new, np.array([row])))
            near("an example alone", one[0], self.decision[row], size[row])

    def none(self):
        """No example at all has no decision, or is refused."""
        if not (isinstance(self.world.new, dict) or self.world.tasks):
            none = self.decide(self.model, self.world.rows(self.world.new, np.array([], dtype=int)))
            if len(none):
                raise Wrong(f"no example has {len(none)} decisions")

    def shown(self):
        """A model can be shown."""
        from manykernels.inspect import weights_table

        if not (repr(self.model) and self.model._repr_html_() and weights_table(self.model)):
            raise Wrong("nothing to show")

    def deviation(self):
        """Standard deviations are finite and not negative."""
        if self.bayes and self.plan.task == "numbers" and not self.world.tasks:
            _, deviation = self.model.predict(self.world.new, return_std=True)
            finite("a standard deviation", deviation)
            if np.any(deviation < 0):
                raise Wrong("a standard deviation is negative")

    def threaded(self):
        """A fit in another thread is the same (issue 11, point 21)."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            self.equal(pool.submit(lambda: self.fit(self.clone())).result(), "a fit in another thread")

    def spoiled(self):
        """NaN and infinity in numbers are refused, or leave finite decisions."""
        new = self.world.new
        if isinstance(new, np.ndarray) and new.dtype.kind == "f":
            bad = np.array(new)
            bad[(0,) * bad.ndim] = self.rng.choice([np.nan, np.inf, -np.inf])
            try:
                decision = self.decide(self.model, bad)
            except ValueError as error:
                if not re.search("NaN|infinit|finite|too large", str(error)):
                    raise
                return
            finite("a decision of spoiled data", decision)
