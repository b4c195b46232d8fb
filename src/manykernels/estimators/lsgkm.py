"""Models of LS-GKM: its text files as fitted classifiers, and back.

A text has a line `name value` for each of `FIELDS`, a line `SV`, and a line `coefficient SEQUENCE` for each support
sequence. The score of x is Σ_i coef_i k(x_i, x) / √(k(x_i, x_i) k(x, x)) − rho, with exp(gamma (that quotient − 1)) in
place of the quotient if there is a gamma.
"""

import gzip
import os
import re
import zlib
from contextlib import suppress
from math import isfinite
from numbers import Integral

import numpy as np
from sklearn.base import clone, is_classifier

from .._archive import MAX_RATIO, MIN_UNPACKED, replacing
from .._state import reader
from ..banks.pairwise_predictor import PairwisePredictor
from ..kernels.kernel_list import KernelList
from ..kernels.normalize import inverse_root
from ..kernels.tasks import ALL
from ..sequences import DNA, Sequences
from ..strings import GappedKmer
from .check_inputs import optional

START = b"svm_type"  # the first word of a text
GZIP, BROKEN = b"\x1f\x8b", (OSError, EOFError, zlib.error)
TYPES = {  # filter, whether there is a gamma, whether there is a centre
    "gkm_cnt": ("counts", False, False),
    "gkm_estfull": ("full", False, False),
    "gkm_esttrunc": ("truncated", False, False),
    "gkmrbf": ("truncated", True, False),
    "wgkm": ("truncated", False, True),
    "wgkmrbf": ("truncated", True, True),
}
FIELDS = (
    "svm_type", "kernel_type", "L", "k", "d", "norc", "gamma", "M", "H", "nr_class", "total_sv", "rho", "label",
    "probA", "probB", "nr_sv",
)  # fmt: skip
PAIRS = ("label", "nr_sv")  # fields of two values
MAX_WORD = 12  # letters of a window there
MAX_LETTERS = 2047  # letters of a sequence there
MAX_WEIGHT = 2**16  # of a window
MAX_SEQUENCES = 2**31
CURE = "give the file as LS-GKM wrote it"
_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(rb"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?")


class _Text:
    """The lines of a model; errors name the file, the line and the cure."""

    def __init__(self, path, content):
        self.path, self.lines = path, [line.rstrip(b"\r") for line in content.rstrip(b"\r\n").split(b"\n")]
        self.fields, self.end = {}, 0  # {name: (line, values)}, and the number of the line "SV"
        for i, line in enumerate(self.lines, 1):
            name, *values = [word.decode("latin-1") for word in line.split()] or [""]
            if name == "SV" and not values:
                self.end = i
                break
            if name not in FIELDS:
                self.refuse(i, f"{_shown(line)} is no field of a model, nor the line 'SV'")
            if name in self.fields:
                self.refuse(i, f"the field {name!r} is there twice")
            if len(values) != 1 + (name in PAIRS):
                self.refuse(i, f"{_shown(line)} must have {'two values' if name in PAIRS else 'one value'}")
            self.fields[name] = i, values
        else:
            self.refuse(len(self.lines), "the line 'SV' is missing, after which the support sequences stand")

    def refuse(self, line, what, cure=CURE):
        raise ValueError(f"{self.path}, line {line}: {what}: {cure}.")

    def _field(self, name):
        if name not in self.fields:
            self.refuse(self.end, f"there is no line {name!r} before 'SV'")
        return self.fields[name]

    def value(self, name, kind, low, high, default=None, at=0):
        """The value of a field as an int or a float within [low, high]; `default` if the field may be missing."""
        if default is not None and name not in self.fields:
            return default
        line, values = self._field(name)
        found = _number(values[at].encode("latin-1"), kind)
        if found is None or not low <= found <= high:
            what = "an integer" if kind is int else "a number"
            self.refuse(line, f"{name} {values[at]} is not {what} within {low:g} … {high:g}")
        return found

    def choice(self, name, choices):
        line, [value] = self._field(name)
        if value not in choices:
            self.refuse(line, f"{name} {_shown(value)} is none of {', '.join(choices)}", f"{CURE}, of such a type")
        return value

    def kernel(self):
        """(its name there, the kernel)."""
        kind = self.choice("kernel_type", TYPES)
        rule, smooth, weighted = TYPES[kind]
        l = self.value("L", int, 2, MAX_WORD)  # noqa: E741 (the paper's name)
        k = self.value("k", int, 1, l)
        d, strand = self.value("d", int, 0, l - k), self.value("norc", int, 0, 1, default=0)
        gamma = self.value("gamma", float, 1e-300, 1e300) if smooth else None
        centre = (self.value("M", int, 1, MAX_WEIGHT), self.value("H", float, 1e-3, 1e300)) if weighted else None
        options = dict(reverse_complement=not strand, d=d, filter=rule, nearest=False, gamma=gamma, centre=centre)
        return kind, GappedKmer(l, k, unknown="A", **options)

    def classes(self):
        """The labels of negative and of positive scores."""
        first, second = (
            self.value("label", int, -(2**62), 2**62, default=1 - 2 * at, at=at) for at in (0, 1)
        )  # 1 and −1
        if first == second:
            self.refuse(self.fields["label"][0], f"label {first} {second} has one class twice")
        return np.array([second, first])

    def support(self, l):  # noqa: E741 (the paper's name)
        """(coefficients (n,), sequences)."""
        n = self.value("total_sv", int, 1, MAX_SEQUENCES)
        counts = [self.value("nr_sv", int, 0, n, default=n - n * at, at=at) for at in (0, 1)]
        if sum(counts) != n:
            self.refuse(self.fields["nr_sv"][0], f"nr_sv {counts[0]} {counts[1]} does not add up to total_sv {n}")
        if len(self.lines) - self.end != n:
            there = len(self.lines) - self.end
            self.refuse(len(self.lines), f"total_sv announces {n} support sequences, and there are {there}")
        coefs, sequences = np.empty(n), []
        for i, line in enumerate(self.lines[self.end :]):
            words, at = line.split(), self.end + i + 1
            coef = _number(words[0], float) if len(words) == 2 else None
            if coef is None or not words[1].isalpha():
                self.refuse(at, f"{_shown(line)} is no coefficient with a sequence of letters")
            if len(words[1]) < l:
                self.refuse(at, f"the sequence has {len(words[1])} letters, fewer than L {l}")
            coefs[i] = coef
            sequences.append(words[1])
        return coefs, Sequences.encode(sequences, DNA, "A")


def unpacked(stream):
    """An open file, unpacked if it is gzipped."""
    return gzip.GzipFile(fileobj=stream) if stream.peek(2).startswith(GZIP) else stream


def is_lsgkm(stream):
    """Whether the unpacked file begins like a text of LS-GKM."""
    with suppress(*BROKEN):
        return stream.peek(len(START)).startswith(START)
    return False


def load_lsgkm(stream, path, limit):
    """The fitted estimator of an unpacked text; `limit` is the largest size in bytes, or None."""
    most = max(MIN_UNPACKED, MAX_RATIO * os.fstat(stream.fileno()).st_size) if limit is None else int(limit)
    try:
        content = stream.read(most + 1)
    except BROKEN as error:
        raise ValueError(f"{path} cannot be unpacked ({error}): fetch it again.") from None
    if len(content) > most:
        raise ValueError(f"{path} has more than {most:g} bytes: give a larger memory_limit.")
    text = _Text(path, content)
    kind_of_model = text.choice("svm_type", ("c_svc", "epsilon_svr", "nu_svr"))
    text.value("nr_class", int, 2, 2)
    kind, kernel = text.kernel()
    coefs, X = text.support(kernel.l)
    slopes = [text.value(name, float, -1e300, 1e300, default=0.0) for name in ("probA", "probB")]
    calibration = {"calibration_": -np.array([slopes])} if "probA" in text.fields else {}
    params = {"kernels": [(kind, kernel)], "C": 1.0, "normalize": "spherical"}
    if kind_of_model == "c_svc":
        tag, params["calibrate"] = ("estimator/classifier", 1), "sigmoid" if calibration else None
        own = calibration | {
            "classes_": text.classes(), "multi_class_": "ovr", "multilabel_": False,
            "multi_class_reason_": "two classes have one vector of weights",
        }  # fmt: skip
    else:
        tag, params["loss"], own = ("estimator/regressor", 1), "epsilon_insensitive", {"n_outputs_": 1}
    state = {
        "parameters": params, "predictor": _predictor(kind, kernel, X),
        "dual_coef_": coefs[None], "duality_gap_": np.nan, "objective_": np.nan,
        "intercept_": np.array([-text.value("rho", float, -1e300, 1e300)]), "n_iter_": 0, "history_": [],
        "kernel_names_": [kind], "kernel_scale_": np.ones(1), "kernel_weights_": np.ones(1), "n_features_in_": 1,
        "support_": np.arange(len(coefs)),
    }  # fmt: skip
    return reader(tag, {}).from_state(state | own)


def _predictor(name, kernel, X):
    """The predictor of one kernel on support sequences X, from the state of a file: a fit would refuse the kernel."""
    view = {"name": None, "columns": None, "column_names": None, "encoding": kernel.encoding, "reads": "sequences"}
    known = {"gaps": [], "lengths": [(int(X.lengths.min()), int(X.lengths.max()))]}
    kernels = KernelList.from_state({
        "views": [view | {"zero": False}], "known": known, "kernels": [kernel], "names": [name], "columns": [None],
        "view_of": np.zeros(1, np.int64), "n_features": 1, "tasks": None, "task_of": [ALL],
    })  # fmt: skip
    own = kernel.diag(X)
    side = {"data": 0, "factor": inverse_root(own)[None], "task": None}
    return PairwisePredictor.from_state({
        "kernels": kernels, "normalize": "spherical", "n_support": len(X), "scale": np.ones(1), "mean": np.ones(1),
        "n_jobs": None, "budget": None, "data": [{"x": X, "own": own, "square": None}], "groups": [side],
    })  # fmt: skip


def save_lsgkm(model, path):
    """Writes a classifier of one `GappedKmer` as LS-GKM does, the positive coefficients first."""
    kind, kernel = _expressible(model)
    if optional(model, "covariate_names_") is not None:
        _refuse("the model has covariates", "fit without them")
    X = _support(model.predictor_, kernel.l)
    coefs = model.dual_coef_[0] * float(np.ravel(model.kernel_weights_)[0] * model.predictor_.scale[0])
    order = np.argsort(coefs <= 0, kind="stable")
    fields = {
        "svm_type": "c_svc", "kernel_type": kind, "L": kernel.l, "k": kernel.k,
        "d": kernel.l - kernel.k if kernel.d is None else kernel.d, "norc": int(not kernel.reverse_complement),
    }  # fmt: skip
    fields |= {} if kernel.gamma is None else {"gamma": _text(kernel.gamma)}
    fields |= {} if kernel.centre is None else {"M": kernel.centre[0], "H": _text(kernel.centre[1])}
    fields |= {"nr_class": 2, "total_sv": len(coefs), "rho": f"{-model.intercept_[0]:g}"}
    fields |= {"label": f"{model.classes_[1]} {model.classes_[0]}"}
    if model.calibrate is not None:
        fields |= dict(zip(("probA", "probB"), map(_text, -model.calibration_[0]), strict=True))
    fields |= {"nr_sv": f"{(coefs > 0).sum()} {(coefs <= 0).sum()}"}
    with replacing(path) as file:
        file.write("".join(f"{name} {value}\n" for name, value in fields.items()).encode() + b"SV\n")
        for coef, x in zip(coefs[order], X[order], strict=True):
            file.write(f"{coef:.16g} {x}\n".encode())


def _expressible(model):
    """(kernel_type, kernel) of a model that the format holds, else a ValueError."""
    kernels = [] if model.predictor_.kernel_list is None else model.predictor_.kernel_list.kernels
    kernel = kernels[0] if len(kernels) == 1 else None
    if kernel is None or not isinstance(kernel, GappedKmer):
        what = "precomputed kernels" if not kernels else f"{len(kernels)} kernels" if kernel is None else repr(kernel)
        _refuse(f"the model has {what}", "fit one GappedKmer")
    if not is_classifier(model) or model.multilabel_ or len(model.classes_) != 2:
        what = f"{len(model.classes_)} classes or labels" if is_classifier(model) else "no classes"
        _refuse(f"the model has {what}", "fit MKLClassifier with two classes")
    if not isinstance(model.classes_[0], Integral):
        _refuse(f"the class {model.classes_[0]!r} is no integer", "fit y of 1 and -1")
    if model.normalize_ != "spherical":
        _refuse(f"normalize={model.normalize_!r}, where theirs is K / √(K_aa K_bb)", "fit with normalize='spherical'")
    for name, wanted in (("start", None), ("stop", None), ("alphabet", DNA)):
        value = kernel.encoding[0] if name == "alphabet" else vars(kernel)[name]
        if value != wanted and value is not None:
            _refuse(f"{name}={value!r} of the kernel has no counterpart", "cut and encode the sequences beforehand")
    if kernel.l > MAX_WORD:
        _refuse(f"l={kernel.l} is more than {MAX_WORD}", "fit shorter words")
    wanted = kernel.filter, kernel.gamma is not None, kernel.centre is not None
    kind = next((kind for kind, known in TYPES.items() if known == wanted), None)
    if kind is None:
        _refuse(f"filter={kernel.filter!r} has no type with gamma or centre", "fit with filter='truncated'")
    if kernel.nearest and not clone(kernel).set_params(nearest=False).psd:
        _refuse(
            "nearest=True has added to the weight of equal words, which their kernel does not",
            "fit with nearest=False, if the fit takes it, or with filter='truncated' and d=None",
        )
    if (kernel.d or 0) > kernel.l - kernel.k:
        _refuse(f"d={kernel.d} is more than l - k = {kernel.l - kernel.k}", "fit with fewer mismatches")
    return kind, kernel


def _support(predictor, l):  # noqa: E741 (the paper's name)
    """The support sequences, if LS-GKM reads them as we do."""
    data = predictor.support_data()
    X = data[0] if isinstance(data, list) and len(data) == 1 else None
    if not isinstance(X, Sequences):
        _refuse("the model keeps no support sequences", "fit with features='never'")
    if (X.letters() >= X.alphabet.size).any():
        _refuse("support sequences have letters like N, which it reads as A", "fit sequences of A, C, G and T")
    if X.lengths.max(initial=0) > MAX_LETTERS:
        _refuse(f"a support sequence has {X.lengths.max()} letters, more than {MAX_LETTERS}", "cut windows")
    factors = predictor.row_factors()
    lost = X.lengths.min(initial=l) < l or factors is not None and not factors.all()
    if lost or predictor.kernel_list.tasks is not None:
        _refuse(f"support sequences are missing, belong to tasks, or have fewer than l={l} letters", "leave these out")
    return X


def _refuse(what, cure):
    raise ValueError(f"format='lsgkm' cannot hold this model: {what}; {cure}, or save it with format='manykernels'.")


def _number(word, kind):
    """A word as an int or a finite float; None if it is no such number."""
    if (_INTEGER if kind is int else _NUMBER).fullmatch(word) is None:
        return None
    found = kind(word)
    return found if isfinite(found) else None


def _text(value):
    """The shortest text of a number that keeps all its digits."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _shown(line):
    """The beginning of a line for a message."""
    text = line.decode("latin-1") if isinstance(line, bytes) else line
    return repr(text[:60] + "…" * (len(text) > 60))
