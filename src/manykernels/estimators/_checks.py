"""Checks of parameters and of X, for fit and for prediction."""

import os
from contextlib import suppress
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._validation import check_choice, check_integer, check_number, shown
from ..banks.base import Source
from ..banks.choice import FEATURES
from ..kernels import Kernel
from ..kernels.annotated import read_annotated
from ..kernels.column_kinds import has_words
from ..kernels.features import APPROXIMATIONS
from ..kernels.frames import check_names, completed, is_frame
from ..kernels.normalize import CHOICES_OF_MODELS, PSD, kind_of
from ..kernels.pairs import Pairs
from ..kernels.precomputed import holds_tables
from ..kernels.spec import as_spec, is_list
from ..kernels.tasks import checked
from ..kernels.transformers import reads_of
from ..kernels.view_data import is_views, n_examples
from ..kernels.views import Views
from ..sequences import Sequences
from ..streaming import is_source
from ..streaming.stream import Stream
from .check_inputs import (
    as_mixed,
    check_table,
    is_precomputed,
    open_annotated,
    optional,
    refuse_text,
    to_host,
    with_texts,
)
from .check_targets import check_several, check_weight, new_task, with_task
from .check_views import (
    check_columns,
    check_kernel_order,
    check_sides,
    check_stack,
    check_train_ids,
    check_views,
    names_of_columns,
    names_of_train,
)
from .covariates import check_covariates
from .plan import Examples

CHOICES = {"normalize": CHOICES_OF_MODELS, "psd": PSD, "features": FEATURES, "approximation": APPROXIMATIONS}
FLAGS = ("slack", "fit_intercept", "warm_start")


class Checks(BaseEstimator):
    """Checks of parameters and data, and the tags of scikit-learn."""

    _usual_normalization = "multiplicative"

    def __sklearn_is_fitted__(self):
        return not vars(self).keys().isdisjoint(("predictor_", "best_estimator_"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = is_precomputed(self)
        tags.input_tags.pairwise = precomputed
        tags.input_tags.three_d_array = precomputed
        reads = _reads(self.kernels)
        tags.input_tags.string = "sequences" in reads
        tags.input_tags.two_d_array = tags.input_tags.sparse = not (precomputed or reads & {"sequences", "objects"})
        return tags

    def _check_params(self):
        for name, choices in CHOICES.items():
            check_choice(name, vars(self)[name], choices)
        if self.psd != "warn" and not is_precomputed(self) and not holds_tables(self.kernels):
            raise ValueError(
                f"psd={self.psd!r} is for precomputed kernels, and kernels={self.kernels!r} has none: leave it at "
                "'warn', or give Pairwise(..., psd=...) if a side of the pairs is precomputed."
            )
        if self.psd not in ("warn", "error") and self.normalize == "spherical":
            raise ValueError(
                f"psd={self.psd!r} changes k(x, x), which normalize='spherical' needs for new examples: "
                "divide the matrices by sqrt(k_ii k_jj) yourself, or take normalize='multiplicative'."
            )
        if is_precomputed(self) and self.features not in ("auto", "never"):
            raise ValueError(f'features={self.features!r} has no effect with kernels="precomputed": take "auto".')
        check_integer("rank", self.rank)
        check_integer("max_iter", self.max_iter)
        check_number("tol", self.tol)
        if self.approximation is not None:
            self._check_approximation()
        for name in FLAGS:
            value = vars(self).get(name, False)  # not every estimator has all of them
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name}={value!r} is not allowed: give True or False.")
        if self.n_jobs is not None and not (isinstance(self.n_jobs, Integral) and self.n_jobs):
            raise ValueError(f"n_jobs={shown(self.n_jobs)} is not allowed: give None, a positive integer or -1.")
        if self.checkpoint is not None and not (self.checkpoint and isinstance(self.checkpoint, str | os.PathLike)):
            raise ValueError(f"checkpoint={self.checkpoint!r} is not allowed: give None or the path of a file.")

    def _check_approximation(self):
        what = f"approximation={self.approximation!r}"
        if self.psd != "warn":
            raise ValueError(f"{what} replaces the matrices that psd={self.psd!r} would change: take one of the two.")
        if is_precomputed(self) or isinstance(self.kernels, Source):
            raise ValueError(f"{what} has no effect on matrices or on kernels that make their own bank: take None.")

    def _check_data(self, X, y, sample_weight, task, covariates=None, strata=None, groups=None):
        """The `Examples` of a fit, a search or a path, whose Y are still the user's targets; records the features of X.

        It forgets the fit before, unless a check fails.
        """
        before = {name: value for name, value in vars(self).items() if name[-1] == "_" or name == "_square"}
        for name in before:
            delattr(self, name)
        try:
            return self._examples(X, y, sample_weight, task, covariates, strata, groups)
        except Exception:
            vars(self).update(before)
            raise

    def _examples(self, X, y, sample_weight, task, covariates, strata, groups):
        own = dict(sample_weight=sample_weight, task=task, strata=strata, groups=groups)
        X, y, covariates, sample_weight, task, strata, _ = open_annotated(X, y, covariates, **own)
        y = self._check_y(y) if strata is None else self._check_y(y, strata)
        host, card = to_host(X)
        X = self._check_X(host, reset=True)
        n = n_examples(X)
        if y is not None and len(y) != n:
            raise ValueError(f"y has {len(y)} entries, and X {n} rows: give one target per example.")
        weight = check_weight(sample_weight, n)
        check_several(weight)
        task = None if task is None else checked(task, n)
        covariates = None if covariates is None else check_covariates(covariates, n, weight)
        return Examples(X, y, weight, weight, None, task=task, card=card, covariates=covariates)

    def _check_y(self, y):
        """The targets, (n,) or (n, T); None if y is ignored."""
        return None

    def _check_X(self, X, *, reset, part=False):
        """X on the host as kernels take it; records (with reset=False: compares) the number and names of the features.

        With `part` X holds only the first examples.
        """
        refuse_text(X)
        X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X  # of pyarrow
        if isinstance(X, np.ndarray) and X.dtype.kind == "T":  # NumPy's texts of any length
            X = X.astype(object)
        X = as_mixed(X) if self._chooses() else X
        if is_source(X):
            raise ValueError(f"X={X!r} is read block by block, which {type(self).__name__} cannot do here: load X.")
        if isinstance(X, Stream):
            self._check_X(X.head, reset=reset, part=True)
        elif is_precomputed(self):
            X = check_stack(X, reset, None if reset else self.predictor_.trained)
            self._check_width(X.shape[1], "columns (training examples)", reset)
            if not reset:
                check_kernel_order(X, self.kernel_names_)
                check_train_ids(X, optional(self, "feature_names_in_"))
            elif (names := names_of_train(X)) is not None:
                self.feature_names_in_ = names
        elif is_views(X) or (not reset and self._views() is not None):
            X = check_views(X, None if reset else self._views(), reset, None if reset else self._needs())
            self._check_width(X.shape[1] if isinstance(X, Views) else len(X), "views", reset)
            self._check_columns(X, reset)
        elif isinstance(X, Pairs):
            if not isinstance(self.kernels, Source):
                raise ValueError(f"X holds pairs of objects, but kernels={self.kernels!r}: give kernels=Pairwise(...).")
            self._check_width(2, "objects per example", reset)
            check_sides(X, () if reset else self.predictor_.pair_sides)
            self._check_columns(X, reset)
        elif is_frame(X):
            check_names(X)
            X = self._check_frame(X if reset else self._without_unread(X), reset)
        elif self._sees_objects(X, reset):
            shape = getattr(X, "shape", ())  # of an array of any library
            self._check_width(shape[1] if len(shape) == 2 else 1, "features", reset)
        else:
            # kernels in a list check their own columns, and may have missing="zero"
            finite = "allow-nan" if isinstance(self.kernels, Source) else isinstance(self.kernels, str)
            options = dict(accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=finite)
            X = check_table(self, X, reset, options)
        if reset and not part and n_examples(X) < 2:
            raise ValueError(f"X has n_samples={n_examples(X)}: give at least two examples.")
        return X

    def _normalization(self, kernels):
        """What `normalize` means for a KernelList, or for kernels that make their own bank (None)."""
        if kernels is None or self.psd not in ("warn", "error"):
            return self._usual_normalization if self.normalize == "auto" else kind_of(self.normalize)
        return kernels.normalization(kind_of(self.normalize), self._usual_normalization)

    @property
    def normalize_(self) -> str | None:
        """The normalisation of the last fit, which `normalize="auto"` has chosen."""
        return self._normalization(self.predictor_.kernel_list)

    def _chooses(self):
        """Whether the fit chooses the kernels."""
        return isinstance(self.kernels, str) and self.kernels == "auto"

    def _sees_objects(self, X, reset):
        """Whether kernels see entries of X that are no numbers: strings, categories, graphs and the like."""
        if not self._chooses():
            if _holds_objects(X, _reads(self.kernels)):
                return True
            return _is_mixed(X) and bool(_reads(self.kernels, parts=True) - {"numeric"})
        found = None if reset else self.predictor_.kernel_list
        seen = [] if found is None else zip(found.kernels, found.columns, strict=True)
        whole = {kernel.reads for kernel, columns in seen if columns is None}
        return _holds_objects(X, whole & {"sequences"}) or _is_mixed(X) and has_words(X)

    def _check_frame(self, frame, reset):
        """The frame, after scikit-learn's checks of the column names; the error names the cure."""
        names = list(optional(self, "feature_names_in_", ()))
        named = with_texts(frame, None if reset else names)
        try:
            validate_data(self, named, reset=reset, skip_check_array=True)
        except ValueError as error:
            if reset or not set(names) <= set(named.columns):
                raise
            names = "model.feature_names_in_" + ".astype(int)" * (named is not frame)
            raise ValueError(f"{str(error).rstrip()}\nGive X[{names}].") from error
        return frame

    def _views(self):
        """The names of the views in fit, None if X was one table."""
        kernels = self.predictor_.kernel_list
        return list(kernels.n_features) if kernels is not None and isinstance(kernels.n_features, dict) else None

    def _check_columns(self, X, reset):
        """Records (with reset=False: compares) the names of the columns of views, or of the tables of pairs."""
        if not reset:
            needs = self._needs()
            needs = self.predictor_.needs() if needs is None else needs
            check_columns(X, optional(self, "view_feature_names_in_", {}), needs)
        elif names := names_of_columns(X):
            self.view_feature_names_in_ = names

    def _needs(self):
        """{view: columns or None for all} that prediction reads, see `KernelList.needs`; None for everything."""
        theta, predictor = optional(self, "kernel_weights_"), self.predictor_
        if theta is None or not predictor.skips:  # an unfitted model reads everything
            return None
        return predictor.kernel_list.needs((np.atleast_2d(theta) * predictor.scale != 0).any(axis=0))

    def _without_unread(self, frame):
        """New data, with empty columns for missing ones that no kernel with weight reads."""
        names, needs = optional(self, "feature_names_in_", ()), self._needs()
        lost = set(names) - set(frame.columns)
        seen = None if needs is None else needs.get(None, set())
        same = len(lost) in (0, len(names))  # also if the names are numbers
        return frame if same or seen is None or lost & seen else completed(frame, list(names))

    def _check_width(self, width, what, reset):
        if reset:
            self.n_features_in_ = width
        elif width != self.n_features_in_:
            cure = (
                ": give the kernel values with these examples, stack[np.ix_(new, train)]; a saved model does not store "
                "their rows in the stack."
            )
            raise ValueError(
                f"X has {width} {what}, but {type(self).__name__} is expecting {self.n_features_in_} as in fit"
                + (cure if is_precomputed(self) else ".")
            )

    def _new_X(self, X, task=None):
        """New data X, with tasks `task`, as the fitted model takes them."""
        X = read_annotated(X, order=optional(self, "view_feature_names_in_", {}))[0]
        X = self._check_X(to_host(X)[0], reset=False)
        known = optional(self, "tasks_")
        if task is None and known is None:
            return X
        return with_task(X, new_task(task, n_examples(X), known, self.predictor_))


def _is_mixed(X):
    """Whether X is an array (n, d) of objects or texts."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS"


def _reads(kernels, parts=False):
    """The set of `Kernel.reads` of the kernels on X as a whole, or, with `parts`, of kernels on columns too."""
    found = set()
    for spec in kernels if is_list(kernels) else [kernels]:
        with suppress(ValueError):  # `KernelList.from_spec` refuses other objects
            spec = as_spec(spec)
            if (parts or spec.columns is None) and isinstance(spec.kernel, Kernel):
                found.add(spec.kernel.reads if spec.transformer is None else reads_of(spec.transformer))
    return found


def _holds_objects(X, reads):
    """Whether X holds strings, graphs or other objects."""
    if isinstance(X, Sequences) or "sequences" in reads:
        return True
    dtype = getattr(X, "dtype", "")  # of an array or a column of any library
    if "objects" in reads and (isinstance(X, list | tuple) or str(dtype) == "object"):
        return True
    if hasattr(X, "to_numpy"):  # a column of a frame
        X = np.asarray(X)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return False
    if any(isinstance(item, str | bytes) for item in X):
        return True
    try:
        return np.asarray(X[0]).dtype.kind not in "biufc"
    except ValueError:  # ragged
        return True
