"""What stands in several places says the same: version, dependencies, links."""

import re
import tomllib
from pathlib import Path

import pytest

import manykernels

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = [*ROOT.glob("*.md"), ROOT / "llms.txt", *(ROOT / "docs").rglob("*.md")]
BUILT = {"support-table.md"}  # pages that are written when the site is built


@pytest.mark.parametrize("name, line", [("CITATION.cff", "version: {}"), ("recipe/recipe.yaml", '  version: "{}"')])
def test_the_version_is_that_of_the_package(name, line):
    assert line.format(manykernels.__version__) in (ROOT / name).read_text().splitlines()


def test_the_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    asked = re.findall(r"^    - (.+)$", recipe.split("  run:\n")[1].split("\ntests:")[0], re.M)
    assert sorted(asked[1:]) == sorted(need.replace(">=", " >=") for need in PROJECT["dependencies"])
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe


def test_the_citation_names_five_papers():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"year: (\d+)", text) == ["2006", "2011", "2011", "2010", "2011"]
    assert text.count("family-names:") == 4 + 4 + 5 + 5 + 2


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in sorted(PAGES) if "gallery" not in page.parts])
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if link.startswith("http") or path in BUILT:
            continue
        if path.startswith("gallery/"):  # made of examples/ when the site is built
            script = ROOT / "examples" / f"{Path(path).name}.py"
            lost += [] if Path(path).name == "index" or script.is_file() else [link]
        elif not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def anchors(page):
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def test_contributing_names_files_and_folders_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = [row for row in text.splitlines() if row.startswith("| a ")]
    named = [path for row in table for path in re.findall(r"`((?:[\w-]+/)+[\w.<>-]+)`", row)]
    places = [path.rpartition("/")[0] if "<name>" in path else path for path in named]
    assert len(table) == 7 and len(named) >= 4 * 7
    assert not [path for path in places if not any((root / path).exists() for root in (ROOT, ROOT / "src/manykernels"))]


def test_every_example_outside_the_package_has_its_place_in_the_pages():
    examples = {path.name for path in (ROOT / "tests/extending").glob("test_own_*.py")}
    for page in ("CONTRIBUTING.md", "docs/extending.md"):
        assert examples <= set(re.findall(r"test_own_\w+\.py", (ROOT / page).read_text(encoding="utf-8"))), page
