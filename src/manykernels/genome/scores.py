"""Effects of variants: the difference of a model's decisions at the two alleles, with a null by shuffled flanks."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from os import PathLike
from typing import Any

import numpy as np

from .._validation import check_integer
from ..banks.base import Predictor
from ..sequences import DNA, Sequences
from .kmers import KmerWeights, decide, deltasvm
from .reference import ColumnTable, Reference, counted, opened
from .variants import Variants, as_variants, located

VARIANTS_AT_ONCE = 2048
RELATIVE_TIE = 1e-9  # differences of decisions that round apart are equal


@dataclass(frozen=True, eq=False)
class VariantScores(ColumnTable):
    """The table of `score_variants`, and what was left out.

    Parameters
    ----------
    columns : dict
        {name: array (n,)}: id, chrom, pos, ref, alt, score_ref, score_alt, delta; p and q; deltasvm; delta:kernel of
        each kernel.
    skipped : dict
        {reason: ids}.
    at_ends : list of str
        The ids of variants whose windows go past an end of the contig and were filled with N.

    Examples
    --------
    >>> from manykernels.genome import VariantScores
    >>> VariantScores({"id": ["rs1"], "delta": [0.5]}, {}, []).summary()
    "1 variants; left out: none; filled with N at a contig's end: none"
    """

    columns: dict[str, Any]
    skipped: dict[str, list[str]]
    at_ends: list[str]

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["id"])

    def summary(self) -> str:
        """One line: how many were scored, what was left out, what was filled."""
        ends = f"{len(self.at_ends)} ({', '.join(self.at_ends[:5])})" if self.at_ends else "none"
        left = counted(self.skipped) or "none"
        return f"{len(self)} variants; left out: {left}; filled with N at a contig's end: {ends}"


def score_variants(
    model: Any, variants: str | PathLike[str] | Variants, reference: str | PathLike[str] | Reference,
    width: int | None = None, *, weights: KmerWeights | str | PathLike[str] | None = None, n_shuffles: int = 10,
    invalid: str = "error", output: int | None = None, random_state: int = 0,
) -> VariantScores:  # fmt: skip
    """The decisions of a model at both alleles of variants, delta = f(alternative) − f(reference), and p and q values.

    The window of an allele of a letters has ⌊(width − a) / 2⌋ letters of the reference before the allele and the rest
    after it. Both windows have `width` letters, also for insertions and deletions, and swapping the alleles swaps the
    scores. Letters that both alleles share at an end belong to the flanks. Letters beyond a contig are N, which matches
    nothing. Soft-masked letters count as others.

    p = (1 + the number of null |delta| ≥ |delta|) / (1 + the number of null delta). The null: both alleles between
    flanks whose letters are shuffled with their pairs of neighbours kept (`dinucleotide_shuffle`), `n_shuffles` times a
    variant. Substitutions are compared with all shuffled substitutions, insertions and deletions with theirs. q:
    Benjamini and Hochberg's false discovery rate.

    Parameters
    ----------
    model : estimator
        Fitted on sequences: anything with `decision_function`, or `predict` of a regressor.
    variants : path or Variants
        A path is read as a VCF file; for tables see `read_variants`.
    reference : path or Reference
    width : int, optional
        The letters of a window. By default those of the training windows, if the model has kept sequences of one
        length.
    weights : KmerWeights or path, optional
        Adds the column deltasvm.
    n_shuffles : int, default 10
        0: no p and q.
    invalid : {"error", "skip"}
        What happens to a variant whose reference allele is not in the genome, whose contig is unknown, or whose alleles
        are longer than the window: a ValueError names them, or `skipped` does.
    output : int, optional
        The column of the decision, if the model has several.
    random_state : int, default 0
        The seed of the shuffles.

    Returns
    -------
    VariantScores
        With a column delta:kernel for each kernel, if the model has `decision_parts`; they sum to delta.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels import MKLClassifier
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import score_variants, training_set
    >>> from manykernels.strings import Spectrum
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=40)
    ...     data = training_set(genome.peaks, genome.reference, width=61)
    ...     model = MKLClassifier([("words", Spectrum(k=4))], C=1.0).fit(data.X, data.y)
    ...     found = score_variants(model, genome.variants, genome.reference, width=61)
    >>> list(found.columns)
    ['id', 'chrom', 'pos', 'ref', 'alt', 'score_ref', 'score_alt', 'delta', 'p', 'q', 'delta:words']
    """
    width = _training_width(model) if width is None else check_integer("width", width)
    if width is None:
        raise ValueError(
            "width=None, but the model does not tell the letters of a window, or was fitted to several lengths: give "
            "width, 101 for example."
        )
    check_integer("n_shuffles", n_shuffles, 0)
    _check_width(model, width)
    rng = np.random.default_rng(check_integer("random_state", random_state, 0))
    with opened(reference) as genome:
        variants = located(as_variants(variants), genome, invalid, width)
        parts, at_ends = [], []
        for low in range(0, len(variants), VARIANTS_AT_ONCE):
            rows = range(low, min(low + VARIANTS_AT_ONCE, len(variants)))
            flanks, alleles, filled = _flanks(variants, rows, genome, width)
            at_ends += [variants.id[rows[k]] for k in filled]
            parts.append(_scores(model, flanks, alleles, n_shuffles, output, rng))
        extra = {} if weights is None else {"deltasvm": deltasvm(weights, variants, genome).score}
    decisions, null, by_kernel = (np.concatenate(column) for column in zip(*parts, strict=True))
    delta = decisions[:, 1] - decisions[:, 0]
    columns = {"id": variants.id, "chrom": variants.chrom, "pos": variants.pos, "ref": variants.ref,
               "alt": variants.alt, "score_ref": decisions[:, 0], "score_alt": decisions[:, 1],
               "delta": delta}  # fmt: skip
    if n_shuffles:
        sizes = np.array([len(ref) == len(alt) for ref, alt in zip(variants.ref, variants.alt, strict=True)])
        columns |= _significance(delta, null, sizes)
    names = model.kernel_names_ if by_kernel.shape[1] else []
    columns |= extra | {f"delta:{name}": column for name, column in zip(names, by_kernel.T, strict=True)}
    columns = {name: np.asarray(column) for name, column in columns.items()}
    return VariantScores(columns, variants.skipped, at_ends)


def _training_width(model):
    """The letters of the sequences that a model has kept from training; None if lengths differ or are unknown."""
    predictor = _predictor(model)
    if predictor is None:
        return None
    kept = [predictor.support_sequences(m) for m in range(predictor.kernel_list.M)]
    lengths = np.unique(np.concatenate([[0], *(X.lengths for X in kept if X is not None)]))
    return int(lengths[1]) if len(lengths) == 2 else None


def _predictor(model):
    """The predictor of one of our estimators with its kernels; a user's model may have none."""
    found = vars(model).get("predictor_")
    return found if isinstance(found, Predictor) and found.kernel_list is not None else None


def _check_width(model, width):
    """A ValueError if windows are too short for a word of a kernel with weight."""
    if (predictor := _predictor(model)) is None:
        return
    kernels, used = predictor.kernel_list, np.atleast_2d(model.kernel_weights_).any(axis=0)
    for name, kernel, own in zip(kernels.names, kernels.kernels, used, strict=True):
        if own and kernel.shortest > width:
            raise ValueError(
                f"width={width} is less than the {kernel.shortest} letters of a word of {name!r}: give the width of "
                "the training windows"
            )


def _flanks(variants, rows, genome, width):
    """(texts of `width` letters around the variants, without alleles; [(reference, alternative)]; filled rows)."""
    flanks, alleles, filled, half = [], [], [], width // 2
    for k in rows:
        chrom, (start, ref, alt) = str(variants.chrom[k]), variants.changed(k)
        stop = start + len(ref)
        flanks.append(
            (genome.fetch(chrom, start - half, start) + genome.fetch(chrom, stop, stop + width - half)).upper()
        )
        alleles.append((ref, alt))
        short = min(len(ref), len(alt))  # the window of this allele reaches farthest
        left = (width - short) // 2
        if start - left < 0 or stop + width - short - left > genome.lengths[chrom]:
            filled.append(k - rows[0])
    return flanks, alleles, filled


def window(flank, allele):
    """The allele in the middle of the flank, cut at both ends to the length of the flank."""
    half, left = len(flank) // 2, (len(flank) - len(allele)) // 2
    right = len(flank) - len(allele) - left
    return flank[half - left : half] + allele + flank[half : half + right]


def _scores(model, flanks, alleles, n_shuffles, output, rng):
    """(decisions (n, 2) at the alleles, null differences (n, n_shuffles), differences by kernel (n, M or 0))."""
    X = _windows(flanks, alleles)
    decisions = decide(model, X, output).reshape(-1, 2)
    by_kernel = np.empty((len(flanks), 0))
    if hasattr(model, "decision_parts"):  # one of our estimators, or a user's model in its manner
        parts = model.decision_parts(X)
        parts = parts[:, output] if parts.ndim == 3 else parts
        by_kernel = parts[1::2] - parts[::2]
    null = np.empty((len(flanks), n_shuffles))
    codes = Sequences.encode(flanks, "dna", unknown="ignore").codes()
    decoder = DNA.decoder()
    for s in range(n_shuffles):
        texts = [row.tobytes().translate(decoder).decode("ascii") for row in shuffle(codes, rng)]
        null[:, s] = np.diff(decide(model, _windows(texts, alleles), output).reshape(-1, 2))[:, 0]
    return decisions, null, by_kernel


def _windows(flanks, alleles):
    texts = [window(flank, allele) for flank, pair in zip(flanks, alleles, strict=True) for allele in pair]
    return Sequences.encode(texts, "dna", unknown="ignore", checked=True)


def _significance(delta, null, group):
    """p and q values, each (n,), of |delta| among the null of the same group."""
    from scipy.stats import false_discovery_control

    p = np.empty(len(delta))
    for one in np.unique(group):
        rows = group == one
        drawn = np.sort(np.abs(null[rows]).ravel())
        below = np.searchsorted(drawn, np.abs(delta[rows]) * (1 - RELATIVE_TIE))
        p[rows] = (1 + len(drawn) - below) / (1 + len(drawn))
    return {"p": p, "q": false_discovery_control(p)}


LETTERS = DNA.size + 1  # the last is N


def dinucleotide_shuffle(X: Any, random_state: int = 0) -> Sequences:
    """Each sequence of DNA in a random order of its letters, among all with the same first letter and the same pairs.

    A sequence is a path through a graph whose vertices are letters and whose edges are pairs of neighbours. All paths
    that use each edge once are equally likely (Altschul and Erickson 1985; Kandel et al. 1996): the last edges out of
    the letters form a tree towards the last letter, drawn in proportion to how many paths have it; the other edges out
    of a letter are used in random order.

    Parameters
    ----------
    X : Sequences or list of str
        Of equal lengths. N counts as a fifth letter.
    random_state : int, default 0
        The seed.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> from manykernels.genome import dinucleotide_shuffle
    >>> list(dinucleotide_shuffle(["AACAGA", "ACACAC"]))[1]
    'ACACAC'
    """
    codes = Sequences.encode(X, "dna", unknown="ignore").codes()
    letters = np.frombuffer(DNA.decoder(), np.uint8)[shuffle(codes, np.random.default_rng(random_state))]
    return Sequences.encode(letters, "dna")


def shuffle(codes, rng):
    """Codes (n, L) uint8 of letters 0 … 4, each row shuffled."""
    n, L = codes.shape
    if L < 3:
        return codes.copy()
    row, before, after = np.arange(n), codes[:, :-1], codes[:, 1:]
    pairs = before * np.uint8(LETTERS) + after
    counts = np.bincount((row[:, None] * LETTERS**2 + pairs).ravel(), minlength=n * LETTERS**2)
    counts = counts.reshape(n, LETTERS, LETTERS)
    keys = rng.random(before.shape)
    for letter, last in enumerate(_last_edges(counts, codes[:, -1], rng).T):
        wanted = np.uint8(letter * LETTERS) + last
        edge = np.argmax(pairs == wanted[:, None], axis=1)
        chosen = (pairs[row, edge] == wanted) & (codes[:, -1] != letter)  # letters that are absent have no edge
        keys[row[chosen], edge[chosen]] = 2.0  # after all others of the letter
    queue = np.take_along_axis(after, np.argsort(before * 4 + keys, axis=1), axis=1)  # by letter, then key
    out_edges = counts.sum(axis=2)
    at, next_edge = codes[:, 0], np.cumsum(out_edges, axis=1) - out_edges
    out = np.empty_like(codes)
    out[:, 0] = at
    for t in range(1, L):
        at, used = queue[row, next_edge[row, at]], at
        next_edge[row, used] += 1
        out[:, t] = at
    return out


def _last_edges(counts, end, rng):
    """The letter after the last occurrence of each letter, (n, 5) uint8, a random tree towards the last letter."""
    found = np.zeros((len(end), LETTERS), np.uint8)
    for root in np.unique(end).tolist():
        rows, trees = np.flatnonzero(end == root), _trees(root)
        weight = counts[rows].astype(float)
        weight[:, :, root] += weight.sum(axis=2) == 0  # a letter that is absent points to the last letter
        weight[:, root, root] = 1.0
        share = np.ones((len(rows), len(trees)))
        for letter in range(LETTERS):
            share *= weight[:, letter, trees[:, letter]]
        total = np.cumsum(share, axis=1)
        drawn = (total <= rng.random(len(rows))[:, None] * total[:, -1:]).sum(axis=1)
        found[rows] = trees[drawn]
    return found


@lru_cache(maxsize=LETTERS)
def _trees(root):
    """All maps of the letters to letters, (125, 5), that lead every letter to the root; the root leads to itself."""
    found = []
    for way in product(range(LETTERS), repeat=LETTERS):
        ends = np.arange(LETTERS)
        for _ in range(LETTERS):
            ends = np.array(way)[ends]
        if way[root] == root and (ends == root).all():
            found.append(way)
    return np.array(found)
