"""Several explicit banks of the same examples as one, for lists that mix kernels of different families."""

from typing import Any

import numpy as np

from .._parts import declared
from .._state import check, check_value
from .base import Predictor
from .explicit import ExplicitBank, Vectors


class JoinedBank(ExplicitBank):
    """`members` are banks; `which` holds an index array for each, the positions of its kernels in the whole list."""

    def __init__(self, kernels, members, which):
        self.kernels, self.members, self.which = kernels, members, which
        self.n, self.M, self.names, self.n_jobs = members[0].n, kernels.M, list(kernels.names), members[0].n_jobs
        self.memory_limit, self.even = members[0].memory_limit, any(member.even for member in members)
        self.by_words = any(member.by_words for member in members)
        self.scale = joined([member.scale for member in members], which)
        self.usable = joined([member.usable for member in members], which)

    def entries(self):
        return sum(member.entries() for member in self.members)

    def diagonals(self):
        return joined([member.diagonals().T for member in self.members], self.which).T

    def vectors(self):
        return JoinedVectors(self)

    def owners(self):
        found = [member.owners() for member in self.members]
        if any(owners is None for owners in found):
            return None
        return np.concatenate([own[owners] for own, owners in zip(self.which, found, strict=True)])

    def dense(self, rows):
        return np.hstack([member.dense(rows) for member in self.members])

    def block(self, rows, theta):
        return sum(member.block(rows, theta[own]) for member, own in zip(self.members, self.which, strict=True))

    def predictor(self, support):
        return JoinedPredictor(self.kernels, [member.predictor(support) for member in self.members], self.which)


class JoinedVectors(Vectors):
    def __init__(self, bank):
        self.which, self.members = bank.which, [member.vectors() for member in bank.members]

    @property
    def q(self):
        return joined([member.q for member in self.members], self.which)

    def clear(self):
        for member in self.members:
            member.clear()

    def add(self, rows, before, delta):
        for member in self.members:
            member.add(rows, before, delta)

    def outputs(self, rows, theta, a):
        pairs = [(member, theta[own]) for member, own in zip(self.members, self.which, strict=True) if theta[own].any()]
        return sum(member.outputs(rows, own, a) for member, own in pairs) + np.zeros(len(rows))

    def parts(self, rows, a):
        return joined([member.parts(rows, a) for member in self.members], self.which)


@declared
class JoinedPredictor(Predictor):
    file_tag = ("predictor/joined", 1)
    saved = {"kernel_list": "KernelList M", "members": "list parts Predictor", "which": "list parts i8 _ <M"}
    by_features = True

    kernel_list: Any
    members: Any
    which: Any

    @property
    def scale(self):
        return joined([member.scale for member in self.members], self.which)

    @property
    def hashed(self):
        return any(member.hashed for member in self.members)

    def sizes(self):
        return self.members[0].sizes()[0], self.kernel_list.M

    def check_state(self):
        sizes = [member.sizes() for member in self.members]
        check(len({n for n, _ in sizes}) == 1, "members differ in their examples")
        check([M for _, M in sizes] == list(map(len, self.which)), "which has other kernels than members")
        check_value("which", np.sort(np.concatenate(self.which)), "i8 M asc <M", {"M": self.kernel_list.M})

    def _weighted(self, theta):
        """(member, weights of its kernels) of each member."""
        return [(member, theta[..., own]) for member, own in zip(self.members, self.which, strict=True)]

    def combined(self, X, theta):
        return sum(member.combined(X, weights) for member, weights in self._weighted(theta))

    def decision(self, X, A, theta):
        return sum(member.decision(X, A, weights) for member, weights in self._weighted(theta))

    def prepared(self, A, theta, limit):
        limit //= len(self.members)
        each = [member.prepared(A, weights, limit) for member, weights in self._weighted(theta)]
        return lambda X: sum(outputs(X) for outputs in each)

    def parts(self, X, A, theta):
        return joined([member.parts(X, A, weights) for member, weights in self._weighted(theta)], self.which)

    def gram(self, X, Y=None, theta=None):
        return sum(member.gram(X, Y, weights) for member, weights in self._weighted(theta))

    def support_data(self):
        return [member.support_data() for member in self.members]

    def expansion(self, m, A):
        at = next(k for k, own in enumerate(self.which) if m in own)
        return self.members[at].expansion(int(np.flatnonzero(self.which[at] == m)[0]), A)

    def support_codes(self):
        """The codes of the first member: callers ask only if all kernels see the same data."""
        return self.members[0].support_codes()

    def row_factors(self):
        found = [member.row_factors() for member in self.members]
        if all(factors is None for factors in found):
            return None
        pairs = zip(found, self.members, strict=True)
        found = [np.ones(member.sizes()[::-1]) if factors is None else factors for factors, member in pairs]
        return joined([factors.T for factors in found], self.which).T


def joined(parts, which):
    """One array from arrays whose last axes are for the kernels `which`, in the order of the whole list."""
    return np.concatenate(parts, axis=-1)[..., np.argsort(np.concatenate(which))]
