"""What Xu 2010 and Yang 2011 share: Gaussian and polynomial kernels on columns, the UCI sets, C by cross-validation."""

import time
import warnings

import numpy as np

WIDTHS = 2.0 ** np.arange(-3, 7)
SETS = {  # name: file, columns left out
    "breast": ("uci_breast_cancer_wisconsin.npz", ()), "heart": ("uci_heart_statlog.npz", ()),
    "iono": ("uci_ionosphere.npz", (1,)), "liver": ("uci_liver_bupa.npz", ()), "pima": ("uci_pima.npz", ()),
    "sonar": ("uci_sonar.npz", ()), "wdbc": ("uci_wdbc.npz", ()), "wpbc": ("uci_wpbc.npz", ()),
}  # fmt: skip
ENOUGH = 10  # repetitions from which on differences of accuracies are judged
BUNDLED = "wdbc"  # comes with scikit-learn


def specs(d, together):
    """Gaussian kernels of ten widths, polynomials of degree 1 to 3 on every column; `together` on all of them too."""
    from manykernels.kernels import RBF, Polynomial

    views = [("all", None)] * together + [(f"x{j}", [j]) for j in range(d)]
    found = []
    for name, columns in views:
        for width in WIDTHS:
            found.append((f"{name} width {width:g}", RBF(gamma=1 / (2 * width**2)), columns))
        for degree in (1, 2, 3):
            found.append((f"{name} degree {degree}", Polynomial(degree=degree, gamma=1.0, coef0=1.0), columns))
    return [spec if spec[2] is not None else spec[:2] for spec in found]


def available(data, names):
    """Those of the UCI sets that are in the folder, and the bundled one."""
    return [name for name in names if name == BUNDLED or data.find(SETS[name][0]) is not None]


def uci(data, name):
    """(X, y) of a UCI set without incomplete rows; the bundled one also where no folder was given."""
    file, drop = SETS[name]
    held = data.arrays(file)
    if held is None:
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True)
        return X, np.where(y == 0, 1, -1)
    X = np.delete(held["X"], drop, axis=1)
    complete = ~np.isnan(X).any(axis=1)
    return X[complete], held["y"][complete].astype(int)


def split(X, y, share, seed):
    """(training, test) with columns of mean 0 and variance 1 on the training examples; classes in proportion."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    train, test = train_test_split(np.arange(len(y)), train_size=share, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def choose(kernels, X, y, regularizer, Cs, **options):
    """The C of the best accuracy in five folds, the smallest of those that tie."""
    from sklearn.model_selection import StratifiedKFold

    from manykernels import MKLClassifierCV

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MKLClassifierCV(kernels, Cs=list(Cs), regularizer=regularizer, cv=folds, **options)
        results = model.fit(X, y).cv_results_
    scores, found = np.asarray(results["mean_test_score"]), np.asarray(results["param_C"], dtype=float)
    return float(found[scores >= scores.max() - 1e-12].min())


def measured(model, X, y, T, t):
    """(accuracy on T in %, kernels with weight, seconds of this process, relative gap) of a fit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds, theta = time.process_time() - start, model.kernel_weights_
    kernels = int(np.sum(theta > 1e-6 * theta.max()))
    return {
        "accuracy": 100 * model.score(T, t),
        "kernels": kernels,
        "seconds": seconds,
        "gap": float(model.duality_gap_),
    }


def p_value(a, b):
    """Of the paired t-test; 1 where all differences are 0."""
    from scipy.stats import ttest_rel

    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return 1.0 if np.allclose(a, b) else float(ttest_rel(a, b).pvalue)
