"""Kernels on sequences of one length that count common words at the same position, as explicit features.

    k_m(x, x') = Σ_{l, k} coef[l, k−1] · [x[l:l+k] = x'[l:l+k]],  summed over the (l, k) with kern[l, k−1] = m

Kernels per degree, per position or per block of positions: each (position, word length) belongs to at most one kernel.
"""

import threading

import numpy as np

from ..._limits import MemoryBudget
from ..._threads import n_threads, run_blocks, slices
from ...kernels.normalize import kind_of
from ...strings.planes import across, planes
from ..explicit import EXAMPLES_PER_BLOCK, ExplicitBank, Vectors
from .degree_predictor import DegreePredictor

TABLE_BYTES = 2**27  # bytes for the values of short words
DEGREE_LANES = 16  # ranges of positions that threads change in parallel
LANE_PADDING = 16  # float64 between the sums of two threads, which keeps them on different cache lines


class DegreeBank(ExplicitBank):
    """coef and kern are (L, d); coef is 0 for words that no kernel counts.

    The table of short words takes at most a quarter of `memory_limit`; the nodes of longer words have no limit.
    """

    by_words = True

    def __init__(
        self, kernels, sequences, coef, kern, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1
    ):
        from ...loops.degree import AlignedText

        self.kernels, self.sequences, self.names, self.n_jobs = kernels, sequences, list(kernels.names), n_jobs
        self.n, self.M, self.memory_limit = len(sequences), len(self.names), memory_limit
        self.L, self.d = coef.shape
        self.letters = len(sequences.alphabet.letters)
        self.raw_coef, self.kern = np.asarray(coef, dtype=np.float64), np.asarray(kern, dtype=np.int32)
        limit = max(TABLE_BYTES, 3 * self.n * self.L)  # less than one more node per word would take
        limit = min(limit, MemoryBudget(memory_limit).share("tables of words"))
        self.direct, self.uniform = self._direct(limit), self._is_uniform()
        self.text = AlignedText(sequences.data, sequences.starts, sequences.bits, self.L, self.letters)
        self._find_nodes()
        self.coef, self.scale = self.raw_coef, np.ones(self.M)
        self.own, self.alone = self._sizes()
        self.normalise(weights, normalize)
        self.coef = self.raw_coef * self.scale[self.kern]
        self.alone *= self.scale.astype(np.float32)

    @classmethod
    def from_list(cls, kernels, X, **options):
        """The bank of a `KernelList`; None if a kernel has another family or if two kernels count the same word.

        Also None for normalize="spherical", where unknown letters give each example a different factor.
        """
        if len(set(kernels.view_of)) > 1 or any(kernel.family != "degree" for kernel in kernels.kernels):
            return None
        if kind_of(options.get("normalize")) == "spherical":
            return None
        view = kernels.views(X)[0]
        tables = [kernel.degree_table(view.X.length) for kernel in kernels.kernels]
        L, d = view.X.length, max(table.shape[1] for table in tables)
        if d > 255:  # `depth` has one byte
            return None
        coef, kern = np.zeros((L, d)), np.zeros((L, d), np.int32)
        for m, table in enumerate(tables):
            counts = np.nonzero(table)
            if coef[counts].any():
                return None
            coef[counts], kern[counts] = table[counts], m
        return cls(kernels, view.X, coef, kern, **options)

    def _direct(self, limit):
        """The length of the longest words whose values are in the table."""
        direct = 1
        while direct < self.d and self.L * 4 * self._width(direct + 1) <= limit:
            direct += 1
        return direct

    def _is_uniform(self):
        """Whether the coefficient of a word does not depend on its position."""
        fits = np.arange(self.L)[:, None] + np.arange(self.d) < self.L
        same = (self.raw_coef == self.raw_coef[0]) & (self.kern == self.kern[0])
        return bool(np.all(same | ~fits))

    def _width(self, k):
        return sum(self.letters**j for j in range(1, k + 1))

    def _find_nodes(self):
        """Sets depth (n, L), ids and begin: the nodes of the longer words, position by position."""
        from ...loops import degree as loops

        depth = np.zeros((self.L, self.n), np.uint8)
        counts = np.zeros(self.L, np.int64)

        def walk(at):
            found = []
            for group, groups in self._levels(at):
                found.append(loops.deepen(group, counts[at], depth[at]))
                counts[at] += groups
            return found

        found = run_blocks(walk, range(self.L), self.n_jobs)
        self.begin = np.concatenate([[0], np.cumsum(depth.sum(axis=0, dtype=np.int64))])
        first = self.first = np.concatenate([[0], np.cumsum(counts)])
        self.n_nodes = int(first[-1])
        self.ids = np.empty(self.begin[-1], np.uint32 if self.n_nodes < 2**32 else np.uint64)

        def write(lane):
            fill = self.begin[:-1] + depth[: lane[0]].sum(axis=0, dtype=np.int64)
            for at in lane:
                for level, numbers in enumerate(found[at]):
                    loops.place(numbers, first[at], level, depth[at], fill, self.ids)
                fill += depth[at]
                found[at] = None

        lanes = [lane for lane in np.array_split(np.arange(self.L), n_threads(self.n_jobs)) if len(lane)]
        run_blocks(write, lanes, self.n_jobs)
        self.depth = np.ascontiguousarray(depth.T)

    def _levels(self, at):
        """(group of each example, number of groups) for words of direct + 1 letters and more at a position."""
        from ...loops import degree as loops

        data, starts, bits, L, size = self.text
        if at + self.direct >= L:
            return
        group, letter = np.empty(self.n, np.int64), np.empty(self.n, np.uint8)
        loops.prefixes(data, starts, bits, at, self.direct, size, group)
        groups = size**self.direct
        for k in range(self.direct, min(self.d, L - at)):
            loops.letters(data, starts, bits, at + k, letter)
            scratch = np.zeros(groups * size, np.int32), np.full(groups * size, -1, np.int32)
            groups = loops.refine(group, letter, size, *scratch)
            if not groups:
                return
            yield group, groups

    def _sizes(self):
        from ...loops import degree as loops

        norms, alone = np.zeros((self.n, self.M), np.float32), np.zeros((self.n, self.M), np.float32)

        def part(block):
            text = self.text._replace(starts=self.text.starts[block])
            loops.sizes(text, self.direct, self.coef, self.kern, self.depth[block], norms[block], alone[block])

        run_blocks(part, slices(self.n, n_threads(self.n_jobs)), self.n_jobs)
        return norms, alone

    def vectors(self):
        return DegreeVectors(self)

    def block(self, rows, theta):
        from ...loops.strings import add_degrees, add_positions

        weight = self.coef * theta[self.kern]
        left = planes(self.sequences[rows])
        right, K, zero = across(left), np.zeros((1, len(rows), len(rows))), np.zeros(1)
        runs = np.cumsum(weight, axis=1)[:, :, None]

        def part(low):
            if self.uniform:
                add_degrees(left[low], right, weight[:1], zero, K[:, low])
            else:
                add_positions(left[low], right, runs, zero, K[:, low])

        run_blocks(part, slices(len(rows), n_threads(self.n_jobs)), self.n_jobs)
        return K[0]

    def predictor(self, support):
        support = self.sequences[support].compact()
        return DegreePredictor(support, self.scale, self.coef, self.kern, self.n_jobs, self.kernels)


class DegreeVectors(Vectors):
    """The values of short words in a table (L, words) and of shared longer words in one array of nodes, in float32.

    The first `add` after `clear` sums in float64 and rounds once, because certificates depend on these sums.
    """

    def __init__(self, bank):
        self.bank = bank
        self.table = np.zeros((bank.L, bank._width(bank.direct)), np.float32)
        self.nodes = np.zeros(max(bank.n_nodes, 1), np.float32)
        self.q = np.zeros(bank.M)
        self.empty, self.stale = True, False
        self.lanes = [lane for lane in slices(bank.L, DEGREE_LANES) if lane.stop > lane.start]

    def clear(self):
        self.q[:], self.empty, self.stale = 0, True, True

    def _values(self, overwrite=False):
        """The values; sets them to zero after `clear` unless the caller overwrites all."""
        from ...loops.degree import WordValues

        bank = self.bank
        if self.stale and not overwrite:
            self.table[:], self.nodes[:] = 0, 0
        self.stale = False
        return WordValues(bank.direct, self.table, self.nodes, bank.depth, bank.begin, bank.ids)

    def add(self, rows, before, delta):
        from ...loops import degree as loops

        bank, keep = self.bank, np.flatnonzero(delta)
        if not len(keep):
            return
        rows, before, delta = rows[keep], before[keep], np.ascontiguousarray(delta[keep])

        anew, self.empty = self.empty, False
        values = self._values(overwrite=anew)

        def lane(part):
            q = np.zeros(bank.M)
            these = (values, bank.coef, bank.kern, part.start, part.stop, q)
            if anew:
                loops.sum_all(bank.text, rows, delta, bank.first, *these)
            else:
                loops.add(bank.text, rows, delta, *these)
            return q

        self.q += np.sum(run_blocks(lane, self.lanes, bank.n_jobs), axis=0)
        grows, blocks = delta * (2 * before + delta), slices(len(rows), -(-len(rows) // EXAMPLES_PER_BLOCK))
        self.q += np.sum(run_blocks(lambda part: grows[part] @ bank.alone[rows[part]], blocks, bank.n_jobs), axis=0)

    def team(self, inner, a, outputs, size, most, precision):
        return DegreeTeam(self, inner, a, outputs, size, most, precision)

    def outputs(self, rows, theta, a):
        from ...loops import degree as loops

        bank, out, values = self.bank, np.empty(len(rows)), self._values()
        weight = bank.coef * theta[bank.kern]

        def part(block):
            loops.look_up(bank.text, rows[block], values, weight, 0, bank.L, out[block])
            for low in range(block.start, block.stop, EXAMPLES_PER_BLOCK):
                some = slice(low, min(low + EXAMPLES_PER_BLOCK, block.stop))
                out[some] += (bank.alone[rows[some]] @ theta) * a[some]

        run_blocks(part, slices(len(rows), n_threads(bank.n_jobs)), bank.n_jobs)
        return out

    def parts(self, rows, a):
        from ...loops import degree as loops

        bank, out, values = self.bank, np.zeros((len(rows), self.bank.M)), self._values()

        def part(block):
            loops.look_up_each(bank.text, rows[block], values, bank.coef, bank.kern, out[block])

        run_blocks(part, slices(len(rows), n_threads(bank.n_jobs)), bank.n_jobs)
        return out + bank.alone[rows] * a[:, None]


class DegreeTeam:
    """A team of threads that visit examples of a `DegreeBank`, see `loops.degree_visits`."""

    def __init__(self, vectors, inner, a, outputs, size, most, precision):
        from ...loops import degree_visits as loops
        from ...loops.team import GATE

        bank, self.size = vectors.bank, size
        vectors.empty = False  # the team adds to the present values
        self.bank, self.threads = bank, min(n_threads(bank.n_jobs), max(1, size // 4))
        self.rows, self.ends = np.empty(most, np.int64), np.empty(-(-most // size) + 1, np.int64)
        self.weight, self.theta = np.empty_like(bank.coef), np.empty(bank.M)
        self.runs, self.numbers, self.gate = np.empty((*bank.coef.shape, 1)), np.zeros(4), np.zeros(GATE, np.int64)
        self.numbers[loops.FORCED] = inner.intercept
        planes = max(1, (bank.letters - 1).bit_length()) + 1, -(-bank.L // 64)
        lanes = np.array([0, *(lane.stop for lane in vectors.lanes)])
        terms = (inner.linear, inner.diagonal, inner.kink, inner.lo, inner.hi)
        self.arguments = (
            self.threads, self.gate, bank.text, vectors._values(),
            loops.WordCounts(bank.coef, bank.kern, bank.alone, lanes, bank.uniform),
            loops.VisitPlan(self.rows, self.ends, self.weight, self.runs, self.theta),
            loops.VisitState(a, outputs, vectors.q, self.numbers),
            loops.DualTerms(*(np.array(x, dtype=float) for x in terms), precision),
            loops.VisitMemory(
                np.zeros((2, size, *planes), np.uint64), np.zeros((2, *planes, size), np.uint64),
                np.zeros((2, 1, size, size)), np.empty(size), np.empty((len(lanes) - 1, size)),
                np.zeros((len(lanes) - 1, bank.M + LANE_PADDING)), np.empty(size, np.int64), np.empty(size),
            ),
        )  # fmt: skip
        self.others = [
            threading.Thread(target=loops.visits, args=(k, *self.arguments), daemon=True, name=f"manykernels-team-{k}")
            for k in range(1, self.threads)
        ]

    def __enter__(self):
        for other in self.others:
            other.start()
        return self

    def __exit__(self, *error):
        from ...loops.degree_visits import call

        call(self.gate, self.threads, False)
        for other in self.others:
            other.join()

    def visit(self, rows, theta, excess, b, turn):
        from ...loops.degree_visits import call, visits

        bank, count = self.bank, -(-len(rows) // self.size)
        self.rows[: len(rows)], self.ends[:], self.theta[:] = rows, -1, theta
        self.ends[: count + 1] = np.minimum(np.arange(count + 1) * self.size, len(rows))
        self.weight[:] = bank.coef * theta[bank.kern]
        self.runs[:, :, 0] = np.cumsum(self.weight, axis=1)
        self.numbers[:3] = excess, b, turn
        call(self.gate, self.threads, True)
        visits(0, *self.arguments)
        excess, b, turn = self.numbers[:3]
        return float(excess), float(b), int(turn)
