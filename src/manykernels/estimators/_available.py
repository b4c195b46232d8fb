"""Methods that only some models have: without them `hasattr` is False, and the AttributeError names the cure."""

from collections.abc import Callable
from functools import update_wrapper, wraps
from types import MethodType
from typing import Any


class Available:
    """A method of models for which `check(model)` does not raise; its error becomes the AttributeError."""

    def __init__(self, method: Callable, check: Callable) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]  # it replaces the function

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
        except Exception as error:  # a parameter is wrong
            raise AttributeError(f"{self.method.__name__} is not available: {error}") from error


def available_if(check: Callable) -> Callable:
    """A decorator of methods: `check(model)` raises an AttributeError if the model does not have the method.

    scikit-learn's `available_if` hides the message of this error in `__cause__`.
    """
    return lambda method: Available(method, check)
