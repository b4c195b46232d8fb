"""The picture of docs/report.md: the first screen of a report, in Chromium; `python docs/images/report.py`."""

import sys
from pathlib import Path

from sklearn.datasets import load_wine

from manykernels import MKLClassifier
from manykernels.kernels import RBF

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "oracles"))


def main():
    from browser import chromium, opened

    wine = load_wine(as_frame=True)
    X, y = wine.data, wine.target_names[wine.target]
    kernels = [(name, RBF(gamma="median"), [name]) for name in X.columns]
    report = MKLClassifier(kernels).fit(X, y).report(X, y, target="cultivar")
    page = report.write(HERE / "report.html", data=False)
    try:
        with chromium() as browser, opened(browser, page, 1000, 1180) as (shown, _):
            shown.evaluate("document.querySelector('.made').remove()")  # the day
            shown.evaluate("document.querySelector('#sources').scrollIntoView()")
            shown.evaluate("scrollTo(0, 0)")
            shown.screenshot(path=HERE / "report.png", clip={"x": 0, "y": 0, "width": 1000, "height": 1180})
    finally:
        page.unlink()


if __name__ == "__main__":
    main()
