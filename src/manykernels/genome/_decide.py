"""The decisions of any fitted model."""

import numpy as np


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
