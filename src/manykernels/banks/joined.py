"""Several explicit banks of the same examples as one, for lists that mix kernels of different kinds."""

import numpy as np

from .._state import check, check_index, check_is, check_list, check_same
from ..kernels import KernelList
from .base import Predictor
from .explicit import ExplicitBank, Vectors


class JoinedBank(ExplicitBank):
    """`parts` are banks, `which` (list of index arrays) the places of their kernels in the list of all."""

    def __init__(self, kernels, parts, which):
        self.kernels, self.parts, self.which = kernels, parts, which
        self.n, self.M, self.names, self.n_jobs = parts[0].n, kernels.M, list(kernels.names), parts[0].n_jobs
        self.memory_limit = parts[0].memory_limit
        self.scale, self.usable = self._gather("scale"), self._gather("usable")
        self.prefers = tuple(dict.fromkeys(name for part in parts for name in part.prefers))

    def _gather(self, name):
        return joined([getattr(part, name) for part in self.parts], self.which)

    def diagonals(self):
        return joined([part.diagonals().T for part in self.parts], self.which).T

    def vectors(self):
        return JoinedVectors(self)

    def owners(self):
        found = [part.owners() for part in self.parts]
        if any(owners is None for owners in found):
            return None
        return np.concatenate([own[owners] for own, owners in zip(self.which, found, strict=True)])

    def dense(self, rows):
        return np.hstack([part.dense(rows) for part in self.parts])

    def block(self, rows, theta):
        return sum(part.block(rows, theta[own]) for part, own in zip(self.parts, self.which, strict=True))

    def predictor(self, support):
        return JoinedPredictor(self.kernels, [part.predictor(support) for part in self.parts], self.which)


class JoinedVectors(Vectors):
    def __init__(self, bank):
        self.which, self.members = bank.which, [part.vectors() for part in bank.parts]

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
        pairs = zip(self.members, self.which, strict=True)
        return sum(member.outputs(rows, theta[own], a) for member, own in pairs if theta[own].any()) + np.zeros(
            len(rows)
        )

    def parts(self, rows, a):
        return joined([member.parts(rows, a) for member in self.members], self.which)


class JoinedPredictor(Predictor):
    file_tag = ("predictor/joined", 1)

    def __init__(self, kernel_list, members, which):
        self.kernel_list, self.members, self.which = kernel_list, members, which

    @property
    def scale(self):
        return joined([member.scale for member in self.members], self.which)

    @property
    def hashed(self):
        return any(member.hashed for member in self.members)

    def sizes(self):
        return self.members[0].sizes()[0], self.kernel_list.M

    def to_state(self):
        return {"kernel_list": self.kernel_list, "members": self.members, "which": self.which}

    def check_state(self):
        n, M = len(self.members), check_is("kernel_list", self.kernel_list, KernelList).M
        check_list("members", self.members, Predictor, n)
        check_list("which", self.which, np.ndarray, n)
        check(n > 0 and len({member.sizes()[0] for member in self.members}) == 1, "members differ in their examples")
        for member, own in zip(self.members, self.which, strict=True):
            check_index("which", own, M, member.sizes()[1])
        check_same("which", np.sort(np.concatenate(self.which)), np.arange(M))

    def _sum(self, method, theta, *args):
        pairs = zip(self.members, self.which, strict=True)
        return sum(getattr(member, method)(*args, theta[..., own]) for member, own in pairs)

    def combined(self, X, theta):
        return self._sum("combined", theta, X)

    def decision(self, X, A, theta):
        return self._sum("decision", theta, X, A)

    def prepared(self, A, theta, room):
        pairs = zip(self.members, self.which, strict=True)
        each = [member.prepared(A, theta[..., own], room // len(self.members)) for member, own in pairs]
        return lambda X: sum(outputs(X) for outputs in each)

    def parts(self, X, A, theta):
        pairs = zip(self.members, self.which, strict=True)
        return joined([member.parts(X, A, theta[..., own]) for member, own in pairs], self.which)

    def gram(self, X, Y=None, theta=None):
        return self._sum("gram", theta, X, Y)

    def support_data(self):
        return [member.support_data() for member in self.members]

    def support_codes(self):
        """Those of the first member: who asks has looked whether all kernels see the same."""
        return self.members[0].support_codes()

    def row_factors(self):
        found = [member.row_factors() for member in self.members]
        if all(factors is None for factors in found):
            return None
        pairs = zip(found, self.members, strict=True)
        found = [np.ones(member.sizes()[::-1]) if factors is None else factors for factors, member in pairs]
        return joined([factors.T for factors in found], self.which).T


def joined(parts, which):
    """Arrays whose last axis speaks of kernels `which`, as one of all kernels."""
    return np.concatenate(parts, axis=-1)[..., np.argsort(np.concatenate(which))]
