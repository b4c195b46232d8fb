"""The pictures of the README and of docs/report.md: the page that the README's commands write, in Chromium.

`python docs/images/report.py [report.html]`; without a page the commands are run.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "oracles"))


def write(folder):
    """The page of the README's commands."""
    model, page, wine = folder / "model.mk", folder / "report.html", ROOT / "examples" / "wine.csv"
    for command in (("fit", wine, "--target", "cultivar", "-o", model), ("report", model, wine, "-o", page)):
        subprocess.run([sys.executable, "-m", "manykernels", *map(str, command)], check=True)
    return page


def take(page):
    from browser import chromium, opened

    with chromium() as browser, opened(browser, page, 1100, 880) as (shown, _):
        shown.evaluate("document.querySelector('.made').remove()")  # the day
        shown.screenshot(path=HERE / "report.png")
        shown.set_viewport_size({"width": 1300, "height": 880})  # all columns of the table
        shown.locator("#sources").screenshot(path=HERE / "report-sources.png")
    for name in ("report.png", "report-sources.png"):  # few colours are there, and few bytes suffice
        picture = Image.open(HERE / name).convert("RGB")
        picture.quantize(96, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def main(page=None):
    with tempfile.TemporaryDirectory() as folder:
        take(Path(page).absolute() if page else write(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
