"""Methods that only some models have: `hasattr` is False without them, and the error itself says what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper, wraps
from types import MethodType
from typing import Any


class Available:
    """A method of the models for which `check(model)` does not raise; what it raises becomes the AttributeError."""

    def __init__(self, method: Callable, check: Callable) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]  # it stands for the function

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is not None:
            self._check(model)
            return MethodType(self.method, model)

        @wraps(self.method)
        def of_class(model, *args, **options):
            self._check(model)
            return self.method(model, *args, **options)

        return of_class

    def _check(self, model):
        try:
            self.check(model)
        except AttributeError:
            raise
        except Exception as error:  # of a parameter that is wrong
            raise AttributeError(f"{self.method.__name__} is not available: {error}") from error


def available_if(check: Callable) -> Callable:
    """The decorator of such a method: `check(model)` raises an AttributeError with a sentence where it has none.

    scikit-learn's own puts that sentence into `__cause__`.
    """
    return lambda method: Available(method, check)
