"""The pictures of docs/report.md, a report in Chromium; `python docs/images/report.py`."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_wine

from manykernels import MKLClassifier
from manykernels.kernels import RBF

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "oracles"))


def main():
    from browser import chromium, opened

    wine = load_wine(as_frame=True)
    X, y = wine.data, np.array(["barolo", "grignolino", "barbera"])[wine.target]
    kernels = [(name, RBF(gamma="median"), [name]) for name in X.columns]
    report = MKLClassifier(kernels).fit(X, y).report(X, y, target="cultivar")
    page = report.write(HERE / "report.html", data=False)
    try:
        with chromium() as browser, opened(browser, page, 1100, 880) as (shown, _):
            shown.evaluate("document.querySelector('.made').remove()")  # the day
            shown.screenshot(path=HERE / "report.png")
            shown.locator("#sources").screenshot(path=HERE / "report-sources.png")
    finally:
        page.unlink()
    for name in ("report.png", "report-sources.png"):  # few colours are there, and few bytes suffice
        picture = Image.open(HERE / name).convert("RGB")
        picture.quantize(96, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


if __name__ == "__main__":
    main()
