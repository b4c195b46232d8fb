import numpy as np

from ._base import Kernel


class Cosine(Kernel):
    """k(x, y) = x'y / (‖x‖ ‖y‖), 0 where x or y is 0."""

    base = "dot"

    def from_base(self, B, out, sx=None, sy=None):
        norms = np.sqrt(sx) * np.sqrt(sy)
        zero = norms <= 0
        np.divide(B, norms, out=out, where=~zero)
        out[zero] = 0
        return out

    def features(self, X):
        """x / ‖x‖, (n, d)."""
        from sklearn.preprocessing import normalize

        return normalize(X)
