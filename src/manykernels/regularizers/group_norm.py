import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._validation import check_number, check_size, shown
from .lp_norm import OnBall, positive


class GroupNorm(OnBall):
    """The ℓp-norm over groups of kernels, such as databases of gene sets, with the ℓ2-norm within a group.

    Ω(θ) = 0 if θ ≥ 0 and ‖(‖θ_g‖₂)_g‖_p ≤ 1, else +inf;   Ω*(s) = ‖(‖s_g₊‖₂)_g‖_q, 1/p + 1/q = 1.

    With p = 1 whole groups get no weight, and the kernels of a chosen group share it. One group is LpNorm(2), groups of
    one kernel are LpNorm(p).

    Parameters
    ----------
    groups : array (M,)
        The group of each kernel, numbers or texts.
    p : float, default 1
        1 ≤ p ≤ inf.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import GroupNorm
    >>> GroupNorm(["go", "go", "kegg"]).weights_from_dual(np.array([3.0, 4.0, 1.0]))
    array([0.6, 0.8, 0. ])
    """

    file_tag = ("regularizer/group_norm", 1)
    constraint = True
    per_kernel = "groups"

    def __init__(self, groups: ArrayLike, p: float = 1.0) -> None:
        self.p = check_number("p", p, 1, closed="both")
        self.groups = np.array(groups)
        if self.groups.ndim != 1 or not len(self.groups) or self.groups.dtype.kind not in "biufUS":
            raise ValueError(f"groups={shown(groups)} must be an array (M,) of numbers or texts, one per kernel.")
        self.groups.flags.writeable = False

    @property
    def _number(self):
        """The number of the group of each kernel, (M,)."""
        return np.unique(self.groups, return_inverse=True)[1]

    def _sizes(self, x):
        """‖x_g‖₂ of each group, (G,)."""
        top = float(np.max(x, initial=0.0))
        return top * np.sqrt(np.bincount(self._number, (x / top) ** 2)) if top > 0 else np.zeros(self._number.max() + 1)

    def _along(self, x, sizes, wanted):
        """x with groups of these sizes scaled to the sizes wanted; a group of size 0 becomes uniform."""
        number = self._number
        even = np.bincount(number) ** -0.5
        scaled = x / np.where(sizes > 0, sizes, 1.0)[number] * wanted[number]
        return np.where(sizes[number] > 0, scaled, (wanted * even)[number])

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        return self._ball.value(self._sizes(np.maximum(theta, 0.0))) if theta.min() >= -1e-9 else np.inf

    def conjugate(self, s: ndarray) -> float:
        return self._ball.conjugate(self._sizes(np.maximum(s, 0.0)))

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        norms = np.asarray(norms, float)
        top = float(np.max(norms, initial=0.0))
        powers = (norms / top if top > 0 else norms) ** (2 / 3)  # LpNorm(2) within a group: its norm is ‖·‖_{4/3}
        sizes = self._sizes(powers)
        return self._along(powers, sizes, self._ball.weights_from_norms(sizes**1.5))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        s = positive(s)
        sizes = self._sizes(s)
        return self._along(s, sizes, self._ball.weights_from_dual(sizes))

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step."""
        z = positive(z)
        sizes = self._sizes(z)
        return self._along(z, sizes, self._ball.prox(sizes))

    def start(self, M: int) -> ndarray:
        check_size("groups", self.groups, M)
        sizes = np.zeros(self._number.max() + 1)
        return self._along(np.zeros(M), sizes, self._ball.start(len(sizes)))
