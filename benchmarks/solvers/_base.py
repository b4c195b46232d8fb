"""What the benchmark asks of a competitor."""

from importlib.util import find_spec


class Solver:
    """A competitor on the normalised kernels S (M, n, n) float32 with labels y ±1.

    `needs` are the modules to be installed, `solves` says whether it solves the problem or another one, `note` says
    what it does, `tolerances` are its settings for the plot of time against gap, from rough to fine.
    `prepare` is not timed; the time is that of `learn`, which knows neither p nor C and is done once, plus `run`.
    """

    name = ""
    needs = ()
    solves = True
    note = ""
    tolerances = (None,)
    most_examples = 10**9

    def refusal(self, n):
        """Why it sits this problem out, or None."""
        missing = [module for module in self.needs if find_spec(module) is None]
        if missing:
            return "not installed: " + ", ".join(missing)
        return f"left out beyond {self.most_examples} examples" if n > self.most_examples else None

    def prepare(self, S, y):
        """The data in the form that the program wants, given to `learn` and `run`."""
        return S, y

    def learn(self, data, tol):
        """What does not depend on p and C, given to `run`."""
        return None

    def run(self, data, learned, p, C, tol):
        """A `Result` for ‖θ‖_p ≤ 1 and C; `tol` is one of `tolerances`."""
        raise NotImplementedError


def svc(K, y, C, tol=1e-3):
    """(a, b) of scikit-learn's SVC on the kernel K (n, n)."""
    import numpy as np
    from sklearn.svm import SVC

    model = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000).fit(K, y)
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    return a, float(model.intercept_[0])
