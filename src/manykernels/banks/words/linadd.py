"""String kernels as explicit features that are words: linadd of Sonnenburg et al. (2006), section 3.

Every pass reads the words from the packed strings again. The bank keeps only one value for each word,
v_w = Σ_i a_i φ_w(x_i), in one of the paper's stores:

"map"     a place for every possible word: no search, A^k places for words of k letters.
"sorted"  a place for every word that occurs in the training data, found by binary search.
"hash"    2^b places for each kernel: word w has the random place h(w) with a random sign s(w), and words with the same
          place are summed. 2^22 places, fewer if memory_limit or the number of kernels demand it.
"auto"    "map" for short words and for those that are fewer than 8 times the letters of the data, "sorted" for others.

"map", "sorted" and "auto" are exact. "auto" raises an error if neither fits into memory_limit, since "hash" is a
different kernel,

    k̃(x, y) = Σ_{w, w'} s(w) s(w') [h(w) = h(w')] φ_w(x) φ_w'(y) ,

the product of the features Σ_{w: h(w) = p} s(w) φ_w: positive semidefinite, so that certificates hold for it. Over
random h (pairwise independent, B = 2^b places) and s (four by four independent),

    E[k̃ − k] = 0 ,   E[(k̃ − k)²] <= (‖φ(x)‖² ‖φ(y)‖² + k(x, y)²) / B <= 2 k(x, x) k(y, y) / B :

a pair of words {w, w'} adds ξ (φ_w φ'_w' + φ_w' φ'_w), ξ = s(w) s(w') [h(w) = h(w')]. E ξ = 0, E ξ² = 1 / B, and the ξ
of different pairs are uncorrelated. So the variance is Σ_{w < w'} (φ_w φ'_w' + φ_w' φ'_w)² / B, and that sum is
½ Σ_{w ≠ w'} (φ_w² φ'_w'² + φ_w'² φ'_w² + 2 φ_w φ'_w φ_w' φ'_w') <= ‖φ‖² ‖φ'‖² + ⟨φ, φ'⟩². (Weinberger et al. 2009 hash
like this; without signs k̃ is too large by about Σφ Σφ' / B.) After normalisation the error is at most √(2 / B), 7e-4 at
2^22 places, in quadratic mean over hashes. Here h and s come from one mixing function with a fixed seed; a single hash
may lie above the mean: of 25 seeds on 60 random strings the worst had 1.6 times the bound's variance, at B = 2^8.
"""

import numpy as np

from ..._limits import MemoryBudget
from ..._state import check
from ..._threads import n_threads, run_blocks, slices
from ...kernels.normalize import inverse_root
from ...strings.base import check_alike, check_length
from ..explicit import ExplicitBank, Vectors, diagonals, len_of
from ._word_readers import HASH, MAP, SORTED, FreeWords, PositionedWords

AT_ANY_PLACE = "channels", "windows"  # families of kernels whose words may stand at any place
MAX_HASH_BITS = 22  # a hash table has at most 2^22 places
MIN_MAP_WORDS = 2**16  # possible words up to which "auto" takes a map
LOOK_UP_ROWS = 8192  # at a time
MAX_FILE_WORDS = 2**22  # words at positions, and
MAX_FILE_READINGS = 2**20  # ways to read words: limits for a kernel from a file


class WordBank(ExplicitBank):
    """Kernels on words; `store` is "auto", "map", "sorted" or "hash", and values take up to half of memory_limit."""

    file_tag = ("bank/words", 1)
    saved = ExplicitBank.of_words | {"store": "of auto map sorted hash"}
    store = "auto"
    asks = ("store",)
    by_words = True

    def __init__(self, kernels, views, store, *, weights, normalize, memory_limit, n_jobs):
        self.store = store
        self.hold(kernels, views, n_jobs, memory_limit)
        self.own = self.norms(views)
        self.normalise(weights, normalize)

    @classmethod
    def from_list(
        cls, kernels, X, *, store="auto", weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1
    ):
        """The bank of a `KernelList`; None if a kernel does not count words. store="trie" means "auto" here."""
        if not all(kernel.family in (*AT_ANY_PLACE, "degree") for kernel in kernels.kernels):
            return None
        if any(kernel.family == "windows" and kernel.window_weights(1) is not None for kernel in kernels.kernels):
            return None
        options = dict(weights=weights, normalize=normalize, memory_limit=memory_limit, n_jobs=n_jobs)
        return cls(kernels, kernels.views(X), "auto" if store == "trie" else store, **options)

    @property
    def hashed(self):
        return self.store == "hash"

    def check_state(self):
        super().check_state()
        self.max_values = _max_values(self.memory_limit)
        for kernel, view in zip(self.kernels.kernels, self.kernels.view_of, strict=True):
            X, degree = self.views[view].X, kernel.family == "degree"
            check(degree or kernel.family in AT_ANY_PLACE, f"{kernel!r} is not of words")
            if degree:
                few = not len(X) or X.length * kernel.words[-1] <= MAX_FILE_WORDS
            else:
                few = kernel.n_readings(X.alphabet.size, self.hashed) <= MAX_FILE_READINGS
            check(few, f"{kernel!r} has too many words")
        self._assign_places(MAX_FILE_WORDS)

    def prepare(self):
        self.max_values = _max_values(self.memory_limit)
        self._assign_places()

    def _assign_places(self, most=np.inf):
        """Finds the ways to read words and gives them places; at most `most` words at positions."""
        self.readers, walks = [], []
        for m, (kernel, v) in enumerate(zip(self.kernels.kernels, self.kernels.view_of, strict=True)):
            X = self.views[v].X
            if kernel.family in AT_ANY_PLACE:
                self.readers.append(FreeWords(kernel, m, int(v), X, self.hashed))
                continue
            if not len(X):  # without support there are no words, and all sums are 0
                continue
            table = kernel.degree_table(X.length)
            if X.alphabet.size ** table.shape[1] >= 2**63:
                raise ValueError(
                    f"features={self.store!r} numbers all words, but there are too many of {table.shape[1]} letters of "
                    f"an alphabet of {X.alphabet.size} ({self.names[m]!r}): take features='auto'."
                )
            if not any(walk.view == v and walk.take_in(m, table) for walk in walks):
                walks.append(PositionedWords(int(v), X))
                walks[-1].take_in(m, table)
                check(sum(walk.coef.size for walk in walks) <= most, "kernels have too many words")
        for walk in walks:
            walk.finish()
        self.readers += walks
        self._hash() if self.hashed else self._place()

    def _hash(self):
        if self.max_values < 16 * self.M:
            raise ValueError(f"memory_limit leaves {self.max_values} places for {self.M} hash tables: raise it.")
        self.bits = min(MAX_HASH_BITS, (self.max_values // self.M).bit_length() - 1)
        self.n_places, rng = self.M << self.bits, np.random.default_rng(0)
        for reader in self.readers:
            salt = rng.integers(2**64, size=reader.table.max() + 1, dtype=np.uint64)[reader.table]
            reader.set_fields(kind=HASH, first=reader.of << self.bits, salt=salt, shift=64 - self.bits)

    def _place(self):
        """Gives places to maps and sorted words, one reader after another."""
        self.n_places = 0
        for reader in self.readers:
            X = self.views[reader.view].X
            few = max(MIN_MAP_WORDS, 8 * int(X.lengths.sum(dtype=np.int64)))
            spaces, left = reader.spaces, self.max_values - self.n_places
            kind = np.full(len(spaces), MAP if self.store == "map" else SORTED)
            if self.store == "auto":
                for c in sorted(range(len(spaces)), key=lambda c: spaces[c]):
                    if spaces[c] <= few and spaces[c] <= left:
                        kind[c], left = MAP, left - spaces[c]
            self._assign_to(reader, X, kind)

    def _assign_to(self, reader, X, kind):
        first, low, high = np.zeros((3, len(kind)), np.int64)
        found, count = [], 0
        before = sum(len(other.words) for other in self.readers)  # codes of sorted words of other readers
        occurring = reader.occurring(X, kind == SORTED)
        for c, space in enumerate(reader.spaces):
            first[c], low[c] = self.n_places, count
            if kind[c] == SORTED:
                found.append(next(occurring))
                space = len(found[-1])
                count += space
            high[c] = count
            self.n_places += space
            if self.n_places + before + count > self.max_values:
                other = "'sorted'" if self.store == "map" else "'hash', which is not exact"
                raise ValueError(
                    f"features={self.store!r} needs room for more than {self.max_values} values: raise memory_limit, "
                    f"or take features={other}."
                )
        reader.words = np.concatenate([reader.words, *found])
        reader.set_fields(kind=kind, first=first, low=low, high=high)

    def norms(self, views):
        """k_m(x_i, x_i) of the examples in these views, (n, M), before normalisation."""
        if not self.hashed:
            return diagonals(self.kernels, views)
        from ...loops.linadd_placed import hashed_norms

        values, out = np.zeros(self.n_places), np.zeros((len_of(views), self.M))
        for start in range(0, len(out), 64):
            for reader in self.readers:
                place, value, count = reader.features(views[reader.view].X[start : start + 64])
                hashed_norms(place, value, ends(count), self.bits, values, out[start : start + 64])
        return out

    def vectors(self):
        return WordVectors(self)

    def block(self, rows, theta):
        if self.hashed or self.root is not None:
            return super().block(rows, theta)
        rows, left, out = numbers(rows), np.array(theta), np.zeros((len(rows), len(rows)))
        for reader in self.readers:
            if isinstance(reader, PositionedWords):  # one walk for all its kernels
                out += reader.block(self.views[reader.view].X, rows, theta * self.scale)
                left[reader.of] = 0.0
        return out + super().block(rows, left) if left.any() else out

    def between(self, left, right, theta, left_root=None, right_root=None):
        if not self.hashed:
            return super().between(left, right, theta, left_root, right_root)
        weight, out = theta * self.scale, np.zeros((len_of(left), len_of(right)))
        for views in (left, right):
            self.check_alike(views)
        for reader in self.readers:
            F, G = (self._features(reader, views) for views in (left, right))
            out += product(F[0], F[1] * weight[F[0] >> self.bits], F[2], *G)
        return out

    def check_alike(self, views):
        """Raises a ValueError if views of new examples differ from the bank's views in alphabet or length."""
        for view, own in zip(views, self.views, strict=True):
            check_alike(view.X.alphabet, own.X.alphabet)
        for reader in self.readers:
            if isinstance(reader, PositionedWords):
                check_length(views[reader.view].X, reader.L)

    def _features(self, reader, views):
        """Hashed features, normalised except for the scale: (places, values, number of each example)."""
        place, value, count = reader.features(views[reader.view].X)
        if self.root is not None:
            root = inverse_root(self.norms(views))
            value = value * root[np.repeat(np.arange(len(count)), count), place >> self.bits]
        return place, value, count


class WordVectors(Vectors):
    """One value for each place of the stores."""

    def __init__(self, bank):
        self.bank, self.values, self.norms = bank, np.zeros(bank.n_places), np.zeros(bank.M)
        self.tasks = [(reader, lane) for reader in bank.readers for lane in reader.lanes(bank.hashed)]
        self.nbytes = self.values.nbytes

    @property
    def q(self):
        return self.norms * self.bank.scale

    def clear(self):
        self.values[:], self.norms[:] = 0.0, 0.0

    def add(self, rows, before, delta):
        bank, keep = self.bank, np.flatnonzero(delta)
        if not len(keep):
            return
        rows, delta = numbers(rows)[keep], np.asarray(delta, dtype=np.float64)[keep]
        root = None if bank.root is None else bank.root[rows]

        def change(task):
            reader, lane = task
            q = np.zeros(bank.M)
            reader.add(bank.views[reader.view].X, rows, delta, root, lane, self.values, q)
            return q

        self.norms += np.sum(run_blocks(change, self.tasks, bank.n_jobs), axis=0)

    def _look_up(self, views, rows, root, theta=None):
        """The outputs, or without θ the parts, of these rows of the views; `root` holds their factors."""

        def sums(part, used):
            found = np.zeros((part.stop - part.start, self.bank.M))
            for reader in self.bank.readers:
                reader.look_up(views[reader.view].X, rows[part], used, self.values, found)
            return found

        return looked_up(self.bank, len(rows), root, theta, sums, LOOK_UP_ROWS)

    def outputs(self, rows, theta, a):
        root = None if self.bank.root is None else self.bank.root[rows]
        return self._look_up(self.bank.views, numbers(rows), root, np.asarray(theta, dtype=float))

    def parts(self, rows, a):
        root = None if self.bank.root is None else self.bank.root[rows]
        return self._look_up(self.bank.views, numbers(rows), root)

    def at(self, views, theta=None):
        bank = self.bank
        bank.check_alike(views)
        root = None if bank.root is None else inverse_root(bank.norms(views))
        return self._look_up(views, np.arange(len_of(views)), root, theta)


def looked_up(bank, n, root, theta, sums, rows):
    """The outputs (n,), or without θ the parts (n, M), from sums(part, mask of used kernels) before normalisation.

    `root` (n, M) holds the factors of the examples, and so many `rows` are looked up at a time.
    """
    factor = bank.scale if theta is None else bank.scale * theta
    out = np.empty((n, bank.M) if theta is None else n)

    def some(part):
        found = sums(part, factor != 0) * (factor if root is None else factor * root[part])
        out[part] = found if theta is None else found.sum(axis=1)

    threads = n_threads(bank.n_jobs)
    run_blocks(some, slices(n, threads * -(-n // (threads * rows))), bank.n_jobs)
    return out


def _max_values(memory_limit):
    """The number of values that fit in memory."""
    return MemoryBudget(memory_limit).share("values of words") // 8


def numbers(rows):
    """Rows as contiguous int64, which the compiled loops need."""
    return np.ascontiguousarray(rows, dtype=np.int64)


def ends(count):
    """The begin and end of rows with these numbers of entries, (n + 1,)."""
    return np.concatenate([[0], np.cumsum(count)])


def product(place, value, count, other_place, other_value, other_count):
    """Σ_p F_ip G_jp of two sets of sparse rows, given by their places, values and numbers of entries."""
    import scipy.sparse as sp

    columns = np.concatenate([place, other_place])
    if not len(columns):
        return np.zeros((len(count), len(other_count)))
    columns = columns - columns.min()
    if columns.max() > 4 * len(columns):  # drop unused places
        columns = np.unique(columns, return_inverse=True)[1]
    width, n = int(columns.max()) + 1, len(place)
    F = sp.csr_array((value, columns[:n], ends(count)), shape=(len(count), width))
    G = sp.csr_array((other_value, columns[n:], ends(other_count)), shape=(len(other_count), width))
    return (F @ G.T).toarray()
