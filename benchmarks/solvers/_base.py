"""What the benchmark asks of a competitor."""

from importlib.util import find_spec


class Solver:
    """A competitor: `prepare` is not timed, `run` is; both get the normalised kernels S (M, n, n) float32.

    `needs` are the modules to be installed, `solves` says whether it solves the problem or another one (then `note`
    says which), `tolerances` are the settings for the plot of time against gap, from rough to fine.
    """

    name = ""
    needs = ()
    solves = True
    note = ""
    tolerances = (None,)
    most_examples = 10**9

    def refusal(self, n, M, p):
        """Why it sits this problem out, or None."""
        missing = [module for module in self.needs if find_spec(module) is None]
        if missing:
            return "not installed: " + ", ".join(missing)
        if n > self.most_examples:
            return f"skipped: too slow beyond {self.most_examples} examples"
        return None

    def prepare(self, S, y):
        """The data in the form that the program wants it, given to `run`."""
        return S, y

    def run(self, data, p, C, tol):
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
