"""Small tables: `data`/uci_NAME.npz (X, y ±1; incomplete rows are dropped), or scikit-learn's breast cancer."""

from pathlib import Path

import numpy as np


def load_uci(name="wdbc", data=None):
    """Standardised columns; constant ones are left out."""
    file = Path(data) / f"uci_{name}.npz" if data else None
    if file and file.exists():
        with np.load(file) as arrays:
            X, y, source = arrays["X"], arrays["y"].astype(float), f"UCI {name}"
    elif name in ("wdbc", "breast_cancer"):
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True)
        y, source = 1.0 - 2.0 * y, "breast cancer (wdbc) from scikit-learn"
    else:
        raise FileNotFoundError(f"uci_{name}.npz needs --data DIR with that file; without it only 'wdbc' is there")
    complete = ~np.isnan(X).any(axis=1)
    X, y = X[complete], y[complete]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y, f"{source}, {len(X)} × {X.shape[1]}"
