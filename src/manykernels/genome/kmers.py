"""Weights of words of k letters, files of them, and deltaSVM: the differences of their sums that variants make."""

import os
import warnings
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from .._archive import write_text
from .._validation import check_integer
from ..kernels.new_data import NewDataWarning
from ..sequences import DNA, Sequences
from .reference import Reference, lines, opened
from .variants import Variants, as_variants, located


def decide(model, X, output=None):
    """The decisions (n,) of any fitted model, or the predictions of a regressor."""
    ask = model.decision_function if hasattr(model, "decision_function") else model.predict  # a user's model
    found = np.asarray(ask(X), float)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if (output is None) != (found.ndim == 1):
        has = "one output" if found.ndim == 1 else f"{found.shape[1]} outputs"
        raise ValueError(
            f"output={output!r}, but the decision of the model has {has}: give the number of one of several"
        )
    return found if output is None else found[:, output]


MAX_K = 12  # 4^k weights
WORDS_AT_ONCE = 2**19
CODES = DNA.table("ignore").astype(np.int64)


@dataclass(frozen=True, eq=False)
class KmerWeights:
    """A weight for each of the 4^k words of A, C, G and T, in alphabetical order.

    Parameters
    ----------
    k : int
    values : array (4^k,)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.genome import KmerWeights
    >>> float(KmerWeights(2, np.arange(16.0))["CA"])
    4.0
    """

    k: int
    values: np.ndarray

    def __post_init__(self):
        check_integer("k", self.k, 1, MAX_K)
        if np.shape(self.values) != (4**self.k,):
            raise ValueError(
                f"values has shape {np.shape(self.values)}: give ({4**self.k},), one of each word of k letters"
            )

    def __getitem__(self, word: str) -> float:
        number = _numbers(word, self.k)
        if len(number) != 1 or number[0] < 0:
            raise KeyError(f"{word!r} is no word of {self.k} letters A, C, G and T")
        return self.values[number[0]]

    def sums(self, texts: list[str]) -> np.ndarray:
        """Σ w(word) over the words of each text, (n,); words with other letters than A, C, G and T add 0."""
        numbers = _numbers("N".join([*texts, "N" * self.k]), self.k)  # no word crosses N
        weight = np.where(numbers < 0, 0.0, self.values[np.maximum(numbers, 0)])
        starts = np.cumsum([0, *(len(text) + 1 for text in texts)])[:-1]
        return np.add.reduceat(weight, starts) if texts else np.empty(0)


def kmer_weights(model: Any, k: int, *, reverse_complement: bool = True, output: int | None = None) -> KmerWeights:
    """The decision of a model at each word of k letters, the weights that deltaSVM takes.

    Like the scores of gkm-SVM's programs they include the intercept. It cancels in deltaSVM's sum over a substitution,
    whose alleles have the same number of words, but not over an insertion or deletion.

    Parameters
    ----------
    model : estimator
        Fitted on sequences.
    k : int
        At most 12; deltaSVM takes 10 or 11.
    reverse_complement : bool, default True
        Score one word of each pair of reverse complements, and give both its weight. False: score all words.
    output : int, optional
        The column of the decision, if the model has several.

    Returns
    -------
    KmerWeights

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.genome import kmer_weights
    >>> from manykernels.strings import Spectrum
    >>> model = MKLClassifier([Spectrum(k=2)], C=1.0).fit(["AAAA", "ACAA", "TTTT", "TTGT"], [1, 1, 0, 0])
    >>> kmer_weights(model, 2).values.shape
    (16,)
    """
    check_integer("k", k, 1, MAX_K)
    opposite, values = _opposite(k), np.empty(4**k)
    numbers = np.flatnonzero(np.arange(4**k) <= opposite) if reverse_complement else np.arange(4**k)
    with warnings.catch_warnings(action="ignore", category=NewDataWarning):  # no training example was as short
        for low in range(0, len(numbers), WORDS_AT_ONCE):
            part = numbers[low : low + WORDS_AT_ONCE]
            values[part] = decide(model, Sequences.encode(_letters(part, k), "dna"), output)
    if reverse_complement:
        values[opposite[numbers]] = values[numbers]
    return KmerWeights(k, values)


def non_redundant_kmers(k: int) -> list[str]:
    """The words of k letters in alphabetical order, the first of each pair of reverse complements.

    Parameters
    ----------
    k : int
        At most 12.

    Returns
    -------
    list of str
        (4^k + 4^(k/2)) / 2 words for even k, 4^k / 2 for odd k.

    Examples
    --------
    >>> from manykernels.genome import non_redundant_kmers
    >>> non_redundant_kmers(2)
    ['AA', 'AC', 'AG', 'AT', 'CA', 'CC', 'CG', 'GA', 'GC', 'TA']
    """
    check_integer("k", k, 1, MAX_K)
    return _words(np.flatnonzero(np.arange(4**k) <= _opposite(k)), k)


def write_kmers(path: str | PathLike[str], k: int) -> None:
    """Write `non_redundant_kmers` as a FASTA file whose headers are the words.

    Parameters
    ----------
    path : str or path
    k : int
        At most 12.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.genome import write_kmers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_kmers(f"{folder}/words.fa", 1)
    ...     with open(f"{folder}/words.fa") as file:
    ...         file.read()
    '>A\\nA\\n>C\\nC\\n'
    """
    write_text(path, (f">{word}\n{word}\n" for word in non_redundant_kmers(k)))


def read_kmer_weights(
    path: str | PathLike[str], *, header: bool = True, missing: float | None = None
) -> KmerWeights:  # fmt: skip
    """The weights of a file in deltaSVM's format: lines of `word score` or `word reverse-complement score`.

    Lines that begin with "#" or "bias" are passed over. A word whose reverse complement alone is in the file has the
    weight of the reverse complement.

    Parameters
    ----------
    path : str or path
        Gzipped or not.
    header : bool, default True
        Pass over the first line, whatever it holds, as deltaSVM does.
    missing : float, optional
        The weight of words that are not in the file, 0 in deltaSVM; None: such words raise an error.

    Returns
    -------
    KmerWeights

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.genome import KmerWeights, read_kmer_weights, write_kmer_weights
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_kmer_weights(f"{folder}/weights.txt", KmerWeights(1, np.array([0.5, -1.0, -1.0, 0.5])))
    ...     read_kmer_weights(f"{folder}/weights.txt").values
    array([ 0.5, -1. , -1. ,  0.5])
    """
    words, scores, shown = [], [], os.fsdecode(path)
    for number, line in lines(path):
        if header and number == 1 or line.startswith(("#", "bias")) or not line.strip():
            continue
        fields = line.split()
        try:
            score = float(fields[-1])
        except ValueError:
            score = np.nan
        if len(fields) not in (2, 3) or not np.isfinite(score):
            raise ValueError(f"{shown}, line {number}: {line!r} is neither 'word score' nor 'word word score'")
        words += fields[:-1]
        scores += [score] * (len(fields) - 1)
    k = len(words[0]) if words else 0
    if not 1 <= k <= MAX_K or any(len(word) != k for word in words):
        raise ValueError(f"{shown} has no words, or words of several lengths or of more than {MAX_K} letters")
    numbers = _numbers("N".join(words), k)[:: k + 1]
    if (numbers < 0).any():
        raise ValueError(f"{shown} has the word {words[np.argmin(numbers)]!r}: words have the letters A, C, G and T")
    values = np.full(4**k, np.nan)
    values[numbers] = scores
    if (differs := np.flatnonzero(values[numbers] != scores)).size:
        raise ValueError(f"{shown} has two scores of the word {words[differs[0]]!r}: leave out one of them")
    values = np.where(np.isnan(values), values[_opposite(k)], values)
    absent = np.flatnonzero(np.isnan(values))
    if len(absent) and missing is None:
        raise ValueError(
            f"{shown} has no weight for {len(absent)} of the {4**k} words, the first {_words(absent[:1], k)[0]}: give "
            "header=False if its first line is a word, or missing=0.0, as deltaSVM does"
        )
    values[absent] = missing
    return KmerWeights(k, values)


def write_kmer_weights(path: str | PathLike[str], weights: KmerWeights) -> None:
    """Write weights in deltaSVM's format: a line of titles, which deltaSVM passes over, then word, tab and weight.

    One word of each pair of reverse complements if both have the same weight everywhere, else all words.

    Parameters
    ----------
    path : str or path
    weights : KmerWeights

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.genome import KmerWeights, write_kmer_weights
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_kmer_weights(f"{folder}/weights.txt", KmerWeights(1, np.array([0.5, -1.0, -1.0, 0.5])))
    ...     with open(f"{folder}/weights.txt") as file:
    ...         file.read()
    'kmer\\tscore\\nA\\t0.5\\nC\\t-1\\n'
    """
    opposite = _opposite(weights.k)
    numbers = np.arange(len(opposite))
    if np.array_equal(weights.values, weights.values[opposite]):
        numbers = numbers[numbers <= opposite]
    rows = zip(_words(numbers, weights.k), weights.values[numbers].tolist(), strict=True)
    write_text(path, ["kmer\tscore\n", *(f"{word}\t{value:.9g}\n" for word, value in rows)])


def _numbers(text, k):
    """The number of the word at each place of the text, −1 if it has other letters than A, C, G and T."""
    codes = CODES[np.frombuffer(text.encode("latin-1"), np.uint8)]
    size = max(len(codes) - k + 1, 0)
    number, known = np.zeros(size, np.int64), np.ones(size, bool)
    for j in range(k):
        part = codes[j : j + size]
        number, known = number * 4 + part, known & (part < DNA.size)
    return np.where(known, number, -1)


def _digits(numbers, k):
    return numbers.astype(np.int32)[:, None] >> np.arange(2 * k - 2, -1, -2, dtype=np.int32) & 3


def _opposite(k):
    """The number of the reverse complement of each of the 4^k words."""
    number = np.zeros(1, np.int64)
    for _ in range(k):  # a letter in front of a word is behind in its reverse complement: A 0 and T 3, C 1 and G 2
        number = (4 * number + np.arange(3, -1, -1)[:, None]).ravel()
    return number


def _letters(numbers, k):
    """The letters of these words, (n, k) bytes."""
    return np.frombuffer(DNA.letters.encode(), np.uint8)[_digits(numbers, k)]


def _words(numbers, k):
    return _letters(numbers, k).view(f"S{k}").ravel().astype(str).tolist()


@dataclass(frozen=True, eq=False)
class DeltaSVM:
    """The result of `deltasvm`.

    Parameters
    ----------
    id : list of n str
    score : array (n,)
    skipped : dict
        {reason: ids} of variants that were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.genome import DeltaSVM
    >>> DeltaSVM(["rs1"], np.array([0.5]), {}).score
    array([0.5])
    """

    id: list[str]
    score: np.ndarray
    skipped: dict[str, list[str]]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the id, a tab and the score with six digits a line, as deltaSVM does."""
        write_text(path, (f"{name}\t{score:.6f}\n" for name, score in zip(self.id, self.score, strict=True)))


def deltasvm(
    weights: KmerWeights | str | PathLike[str], variants: str | PathLike[str] | Variants,
    reference: str | PathLike[str] | Reference, *, invalid: str = "error",
) -> DeltaSVM:  # fmt: skip
    """Σ w(words of the alternative) − Σ w(words of the reference), over the words that overlap a variant.

    Both alleles have k − 1 letters of the reference on each side, fewer at the ends of a contig. Words with N count 0.

    Parameters
    ----------
    weights : KmerWeights or path
    variants : path or Variants
    reference : path or Reference
    invalid : {"error", "skip"}
        As in `score_variants`.

    Returns
    -------
    DeltaSVM

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import KmerWeights, deltasvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     found = deltasvm(KmerWeights(2, np.zeros(16)), genome.variants, genome.reference)
    ...     found.write(f"{folder}/scores.txt")
    ...     with open(f"{folder}/scores.txt") as file:
    ...         print(file.readline())
    broken0	0.000000
    """
    weights = weights if isinstance(weights, KmerWeights) else read_kmer_weights(weights)
    around, texts = weights.k - 1, []
    with opened(reference) as genome:
        variants = located(as_variants(variants), genome, invalid)
        for k, chrom in enumerate(variants.chrom.tolist()):
            start, ref, alt = variants.changed(k)
            stop = start + len(ref)
            left, right = genome.fetch(chrom, start - around, start), genome.fetch(chrom, stop, stop + around)
            texts += [left + ref + right, left + alt + right]
    sums = weights.sums(texts).reshape(-1, 2)
    return DeltaSVM(variants.id, sums[:, 1] - sums[:, 0], variants.skipped)
