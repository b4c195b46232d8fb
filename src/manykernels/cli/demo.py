"""`manykernels demo`: learn the weights of a few hundred kernels on a bundled data set."""

import math
import tempfile
import time
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

import manykernels as mk

from ._talk import Json, check_output, is_quiet, show
from .learn import progress


class Data(StrEnum):
    """Data sets that come with scikit-learn."""

    breast_cancer = "breast_cancer"
    digits = "digits"


def demo(
    data: Annotated[Data, Option(help="The data set.")] = Data.breast_cancer,
    p: Annotated[float, Option(min=1, help="Norm of the weights: 1 is sparse, inf is the plain sum.")] = 1.0,
    C: Annotated[float, Option("--C", min=1e-12, help="Factor of the loss; positive.")] = 1.0,
    output: Annotated[
        str | None, Option("--output", "-o", help="The file of the report; by default in a temporary folder.")
    ] = None,
    json: Json = False,
):
    """Learn the weights of a few hundred kernels, compare with the best single kernel and the sum, write a report."""
    from rich.console import Console
    from sklearn.model_selection import train_test_split

    begin = time.perf_counter()
    over = "" if output is None else check_output(output)
    console = Console(quiet=is_quiet() or json)
    title, X, y, kernels, scaler = _load(data.value)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    X, X_new = scaler.fit_transform(X), scaler.transform(X_new)
    console.print(f"{title}: {len(y)} examples to learn from, {len(y_new)} to test on, {len(kernels)} kernels")
    shown = not json and progress()
    fits, rows = [], []
    for label, fit in (
        (f"learned weights, p = {p:g}", partial(_fit, p)),
        ("plain sum of all kernels", partial(_fit, math.inf)),
        ("best single kernel: {}", partial(_fit_best_single)),
    ):
        start = time.perf_counter()
        fitted = fit(kernels, C, X, y, shown)
        seconds, accuracy = time.perf_counter() - start, fitted.score(X_new, y_new)
        cells = f"{(fitted.kernel_weights_ > 0).sum()}", f"{seconds:.2f} s", f"{fitted.duality_gap_:.1e}"
        rows.append((label.format(fitted.kernel_names_[0]), f"{accuracy:.1%}", *cells))
        fits.append(fitted)
    model = fits[0]
    console.print(mk.inspect.weights_table(model, top=12))
    columns = "accuracy", "kernels", "time", "relative gap"
    console.print(mk.inspect.tables.numbers_table("on the test examples", "", columns, rows))
    console.print("Cross-validation with 3 folds chose the single kernel; its time is that of the whole choice.")
    console.print(
        "Weights say how much the fit uses each kernel, not how much the kernel helps on new examples: a nearly "
        "diagonal kernel gets weight as slack does. manykernels.inspect.relevance measures the relevance of sources."
    )
    console.print("The first run on a machine includes compilation, which is cached.")
    place = output or str(Path(tempfile.mkdtemp(prefix="manykernels-")) / "report.html")
    sources: dict[str, list[int]] = {}
    for m, name in enumerate(model.kernel_names_):
        sources.setdefault(name.partition(" on ")[2], []).append(m)
    options: dict[str, Any] = dict(sources=sources, cv=3, stability=3, max_examples=200, verbose=shown)
    found = model.report(X, y, place, title=f"{title.capitalize()}: what matters", **options)
    seconds = time.perf_counter() - begin
    facts = {"report": str(found.path), "accuracy": model.score(X_new, y_new), "gap": model.duality_gap_}
    if json:
        show(facts | {"seconds": seconds}, True)
    else:
        console.print(f"The demo took {seconds:.0f} s. Open the report{over} in a browser:")
        typer.echo(str(found.path))


def _load(name):
    """Title, X, y, kernels and scaler of a bundled data set."""
    import numpy as np
    from sklearn import datasets
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    if name == "breast_cancer":
        bunch = datasets.load_breast_cancer()
        kernels = []
        for spec in mk.kernels.feature_bank(bunch.data):
            place = "all features" if spec.columns is None else bunch.feature_names[spec.columns[0]]
            kernels.append((f"{_short(spec.kernel)} on {place}", spec.kernel, spec.columns))
        return "breast cancer", bunch.data, bunch.target_names[bunch.target], kernels, StandardScaler()
    bunch = datasets.load_digits()
    pixel = np.arange(64).reshape(8, 8)
    regions = {"the whole image": pixel}
    regions |= {f"rows {r}-{r + 1}": pixel[r : r + 2] for r in range(0, 8, 2)}
    regions |= {f"columns {c}-{c + 1}": pixel[:, c : c + 2] for c in range(0, 8, 2)}
    regions |= {f"the block at {r},{c}": pixel[r : r + 4, c : c + 4] for r in (0, 2, 4) for c in (0, 2, 4)}
    kernels = [
        (f"{_short(kernel)} on {region}", kernel, pixels.ravel())
        for region, pixels in regions.items()
        for kernel in (mk.kernels.RBF(gamma=float(2.0**k / pixels.size)) for k in range(-2, 9))
    ]
    labels = np.array(["even", "odd"])[bunch.target % 2]
    return "digits, odd against even", bunch.data, labels, kernels, FunctionTransformer(lambda X: X / 16)


def _short(kernel):
    return (
        f"RBF(gamma={kernel.gamma:.3g})"
        if isinstance(kernel, mk.kernels.RBF)
        else f"polynomial of degree {kernel.degree}"
    )


def _fit(p, kernels, C, X, y, shown):
    return mk.MKLClassifier(kernels, regularizer=p, C=C, verbose=shown).fit(X, y)


def _fit_best_single(kernels, C, X, y, shown):
    """The single kernel with the best cross-validation score, fitted to all training examples."""
    import numpy as np
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    from ..banks import PairwiseBank
    from ..estimators.progress import show_stages

    bank = PairwiseBank(mk.kernels.KernelList.from_spec(kernels, X), X)
    scores = np.zeros(bank.M)
    with show_stages(shown) as tick:
        for m in np.flatnonzero(bank.usable):
            K = bank.combined(np.eye(bank.M)[m])
            scores[m] = cross_val_score(SVC(kernel="precomputed", C=C), K, y, cv=3).mean()
            tick("each kernel alone", m + 1, bank.M)
    return mk.MKLClassifier([kernels[int(scores.argmax())]], C=C).fit(X, y)
