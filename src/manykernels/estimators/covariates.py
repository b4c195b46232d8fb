"""Covariates: columns that a fit adjusts for and does not penalise, f = Σ_m f_m(x) + zᵀw + b.

Columns of numbers, or of texts of numbers, enter as they are; others are categories, one column of 0 and 1 for each
level but the first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._callers import warn
from .._state import check, check_is, check_value
from .._validation import shown
from ..kernels.column_kinds import describe, is_number_text
from ..kernels.frames import check_entries, check_names, is_frame, listed, missing_entries, to_numbers
from ..regularizers import Regularizer
from ..weighting import Uniform
from .check_inputs import BLANKS, optional, refuse_iterator, to_host

ALIKE = 1e-9  # of its norm: a column this near to a combination of the others says nothing new
MAX_LEVELS = 100
FEW_LEVELS = 10  # are allowed in any number of examples
MAX_SIZE = 1e100


@dataclass(frozen=True)
class Covariates:
    """The covariates of n examples: numbers Z (n, q), their names, and how they are made of the user's columns.

    `columns` is {name of a column: the levels of a category, or None for numbers}.
    """

    Z: np.ndarray
    names: list[str]
    columns: dict[str, list[Any] | None]

    def take(self, rows: np.ndarray) -> Covariates:
        """Those of some examples."""
        return replace(self, Z=self.Z[rows])

    def groups(self) -> list[tuple[str, np.ndarray]]:
        """("column=level", mask (n,)) of the levels of categories, and of the values of columns that have two."""
        found: list[tuple[str, np.ndarray]] = []
        for column, levels in self.columns.items():
            known = {name: self.Z[:, self.names.index(name)] for name in _names(column, levels) if name in self.names}
            if levels is not None and known:
                found.append((f"{column}={levels[0]}", ~np.any(list(known.values()), axis=0)))
                found += [(name, z > 0) for name, z in known.items()]
            elif known and len(values := np.unique(known[column])) == 2:
                found += [(f"{column}={value:g}", known[column] == value) for value in values]
        return found


def check_covariates(given: Any, n: int, weight: np.ndarray) -> Covariates:
    """The `Covariates` of a fit; columns that say nothing beyond those before them are dropped, with a warning.

    Examples of weight 0 do not count.
    """
    if isinstance(given, Covariates):
        return given
    table = _columns(given, n)
    for name, (values, levels) in table.items():
        if levels is not None:
            _check_levels(name, list(dict.fromkeys(values.tolist())), n)
    columns = {name: levels for name, (_, levels) in table.items()}
    found = {name: z for column, (values, levels) in table.items() for name, z in _numbers(column, values, levels)}
    names = _new(found, weight > 0)
    if not names:
        raise ValueError(
            f"covariates has no column that varies ({listed(list(table))}): leave it out, or give other columns."
        )
    lost = [name for name in found if name not in names]
    if lost:
        warn(f"covariates: dropped {listed(lost)}, constant or a combination of the columns before.")
    return Covariates(np.column_stack([found[name] for name in names]), names, columns)


def new_covariates(model: Any, given: Any, n: int) -> np.ndarray | None:
    """The covariates (n, q) of new examples as the fitted model takes them; None if it has none."""
    known = optional(model, "covariate_columns_")
    if known is None:
        if given is not None:
            raise ValueError("covariates is given, but the model was fitted without them: leave it out.")
        return None
    if given is None:
        raise ValueError(
            f"the model was fitted with the covariates {listed(list(known))}: give covariates=, with a row per example."
        )
    if isinstance(given, Covariates):
        return given.Z
    table = _columns(given, n)
    if not is_frame(given) and not isinstance(given, dict) and len(table) == len(known):  # by position
        table = dict(zip(known, table.values(), strict=True))
    lost = [name for name in known if name not in table]
    if lost:
        raise ValueError(f"covariates lacks {listed(lost)}: give the columns {listed(list(known))} as in fit.")
    found: dict[str, np.ndarray] = {}
    for column, levels in known.items():
        values = table[column][0]
        if levels is not None:
            strange = [value for value in dict.fromkeys(values.tolist()) if value not in levels]
            if strange:
                raise ValueError(
                    f"covariates: {column!r} has {shown(strange[:5])}, not seen in fit: merge rare levels before the "
                    "fit, or give the column as pandas categories that list every level."
                )
        found |= dict(_numbers(column, values, levels))
    return np.column_stack([found[name] for name in model.covariate_names_])


def level_of(model: Any, given: Any, n: int) -> np.ndarray:
    """zᵀw + b of n new examples: (n, T), or (T,) without covariates."""
    part = part_of(model, given, n)
    return model.intercept_ if part is None else part + model.intercept_


def part_of(model: Any, given: Any, n: int) -> np.ndarray | None:
    """zᵀw of n new examples, (n, T); None without covariates."""
    Z = new_covariates(model, given, n)
    return None if Z is None else Z @ model.covariate_coef_.T


def _columns(given, n):
    """{name: (values (n,), levels or None for numbers)} of a frame, a dict of columns, a column or an array."""
    refuse_iterator("covariates", given)
    if issparse(given):
        raise ValueError("covariates is sparse: give covariates.toarray().")
    names = [given] if isinstance(given, str) else given
    if isinstance(names, list | tuple) and names and len(names) != n and all(isinstance(one, str) for one in names):
        raise ValueError(
            f"covariates={given!r} are names: give the columns themselves, such as data.obs[{list(names)!r}]."
        )
    if is_frame(given):
        given = {name: given[name] for name in check_names(given, "covariates")}
    elif not isinstance(given, dict):
        name = getattr(given, "name", None)  # of a column of pandas or polars
        array = given if name is not None else np.asarray(to_host(given)[0])
        if not array.ndim:
            raise ValueError(f"covariates={shown(given)} is no column: give a value per example, (n,) or (n, q).")
        array = array[:, None] if array.ndim == 1 and name is None else array
        given = {name: given} if name is not None else {f"z{j}": column for j, column in enumerate(array.T)}
    table = {str(name): _column(str(name), column, n) for name, column in given.items()}
    if not table:
        raise ValueError("covariates has no columns: leave it out.")
    return table


def _column(name, column, n):
    """(values (n,), levels or None for numbers) of a column of any library; a ValueError for missing values."""
    check_entries(f"covariates: {name!r}", column)
    values, levels = np.asarray(column), None
    if values.dtype == object and not any(isinstance(value, str) for value in values.flat):
        with suppress(TypeError, ValueError):  # nullable numbers become floats, with NaN for missing ones
            values = to_numbers(values.reshape(len(values), -1), lambda: [name]).reshape(values.shape)
    if values.shape != (n,):
        raise ValueError(f"covariates: {name!r} has shape {values.shape}, expected {(n,)}: one value per example.")
    if lost := int(missing_entries(values).sum()):
        raise ValueError(
            f"covariates: {name!r} has {lost} missing values: leave these examples out, fill them in, or make missing "
            "a category of its own."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"covariates: {name!r} has infinite numbers: give finite ones.")
    kept = str(getattr(column, "dtype", "")) == "category"  # of pandas
    if values.dtype.kind not in "biuf" or kept:
        known = list(column.cat.categories) if kept else None
        levels = sorted(dict.fromkeys(values.tolist()), key=lambda v: (str(type(v)), v)) if known is None else known
        levels = [level.item() if isinstance(level, np.generic) else level for level in levels]
        codes = all(str(level).lstrip("-").removesuffix(".0").isdigit() for level in levels) and 2 * len(levels) <= n
        if not (kept or codes):
            kind, why = describe([(name, values)])[0][1:4:2]
            if kind == "numbers" or "numbers" in why and "codes" not in why:
                return values, None
        if len(levels) > MAX_LEVELS:
            raise ValueError(
                f"covariates: {name!r} has {len(levels)} levels, more than {MAX_LEVELS}: give numbers, or merge levels."
            )
    return values, levels


def _check_levels(name, levels, n):
    """A ValueError if a level looks like a missing value, or there are so many that they fit any target."""
    blank = [level for level in levels if isinstance(level, str) and level.strip().lower() in BLANKS]
    if blank:
        raise ValueError(
            f"covariates: {name!r} has the level {blank[0]!r}, which looks like a missing value: leave these examples "
            "out, or give the level another name."
        )
    if len(levels) > max(n // 2, FEW_LEVELS):
        raise ValueError(
            f"covariates: {name!r} has {len(levels)} levels in {n} examples, which fit any target: give numbers (of "
            "days, for dates), merge levels, or leave it out."
        )


def _numbers(name, values, levels):
    """[(name, floats (n,))]: the column itself, or a column of 0 and 1 for each level but the first."""
    if levels is None:
        if values.dtype.kind not in "biuf":
            strange = [v for v in values.tolist() if not (is_number_text(str(v)) and np.isfinite(float(v)))]
            if strange:
                raise ValueError(
                    f"covariates: {name!r} holds numbers, and {shown(strange[0])} is none: give finite numbers, with "
                    "decimal points, or in the fit pandas categories."
                )
        values = values.astype(float)
        if np.abs(values).max(initial=0.0) > MAX_SIZE:  # their squares overflow
            raise ValueError(f"covariates: {name!r} has {np.abs(values).max():.0e}: rescale it, such as to variance 1.")
        return [(name, values)]
    plain = values.tolist()
    return [(f"{name}={level}", np.array([value == level for value in plain], float)) for level in levels[1:]]


def _new(found, used):
    """The names of the columns that are no combination of a constant and the columns before them."""
    basis, names = [np.ones(int(used.sum())) / max(np.sqrt(used.sum()), 1.0)], []
    for name, z in found.items():
        z = z[used] - z[used].mean()
        size = np.linalg.norm(z)
        if size <= ALIKE * np.linalg.norm(found[name][used]):
            continue
        z = z / size
        for _ in range(2):  # once more, for the rounding of the first time
            z = z - np.array(basis).T @ (np.array(basis) @ z)
        rest = np.linalg.norm(z)
        if rest > ALIKE:
            basis.append(z / rest)
            names.append(name)
    return names


def _names(column, levels):
    """The names of the numbers that stand for a column."""
    return [column] if levels is None else [f"{column}={level}" for level in levels[1:]]


def warn_without_events(covariates: Covariates, event: np.ndarray) -> None:
    """A UserWarning about groups of the covariates without an event, `event` (n,)."""
    lost = [(name, own) for name, own in covariates.groups() if own.any() and not event[own].any()]
    if lost:
        name, own = lost[0]
        warn(
            f"covariates: none of the {own.sum()} examples with {name} has an event"
            + (f" (nor has {listed([name for name, _ in lost[1:]])})" if lost[1:] else "")
            + ": in Cox's model the coefficient that sets them apart has no finite value, and ends at about ±30. Merge "
            "the level with another, give the column as strata, or leave out the column or these examples."
        )


def refuse_covariates(regularizer: Any) -> None:
    """A ValueError for regularizers whose weights come from the data, without regard to the covariates."""
    if not isinstance(regularizer, Uniform) and type(regularizer).bind is not Regularizer.bind:
        raise ValueError(
            f"regularizer={regularizer!r} takes no covariates: it finds the weights of the kernels from the data "
            "without them; give a number p, such as regularizer=1, or Uniform()."
        )


def check_saved(own: dict[str, Any]) -> None:
    """A ValueError unless the attributes of a model from a file have covariates that go together."""
    names = [f"covariate_{part}_" for part in ("names", "columns", "coef")]
    check(len({name in own for name in names}) == 1, "covariate_names_, covariate_columns_ and covariate_coef_ differ")
    made: list[str] = []
    for name, levels in own.get(names[1], {}).items():
        check_value(names[1], levels, "?list _ plain", {})
        made += _names(check_is(names[1], name, str), levels)
    check(set(own.get(names[0], [])) <= set(made), "covariate_names_ are not those of covariate_columns_")
