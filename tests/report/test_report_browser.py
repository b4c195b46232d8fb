"""The page, opened in Chromium: it says nothing on the console, and hover, sort, filter, dark, phone and print work."""

import pytest
from browser import chromium, missing, needs_browser, opened
from injected import injected_report
from reports import hostile_report, plain_report

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        "plain": plain_report().write(folder / "plain.html"),
        "hostile": hostile_report().write(folder / "hostile.html"),
    }


def test_playwright_is_there():
    assert not missing()


@pytest.mark.parametrize(("name", "scheme"), [("plain", "light"), ("hostile", "dark")])
def test_opens_without_a_message_or_a_request(browser, pages, name, scheme):
    with opened(browser, pages[name], scheme=scheme) as (page, said):
        page.wait_for_timeout(50)
        assert said == [] and page.locator("h1").count() == 1 and page.locator("section").count() >= 8


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_no_width_scrolls_sideways(browser, pages, name):
    with opened(browser, pages[name], 360, 740) as (page, said):
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for width in (320, 360, 768, 1280):
            page.set_viewport_size({"width": width, "height": 740})
            assert page.evaluate("document.documentElement.scrollWidth") <= width and said == []
        page.set_viewport_size({"width": 360, "height": 740})
        small = page.evaluate(
            """[...document.querySelectorAll("main *")].filter((e) => e.childElementCount === 0 && e.textContent.trim()
                && e.getBoundingClientRect().width > 0 && !e.closest("svg") && !e.closest(".tight")
                && parseFloat(getComputedStyle(e).fontSize) < 11).map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert not small


def colours(page):
    return page.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")


def test_dark_follows_the_system_and_the_button_changes_it(browser, pages):
    with opened(browser, pages["plain"], scheme="light") as (page, _):
        light = colours(page)
        page.get_by_role("button", name="Show in dark colours").click()
        dark = colours(page)
        page.get_by_role("button", name="Show in light colours").click()
        assert colours(page) == light != dark
    with opened(browser, pages["plain"], scheme="dark") as (page, _):
        assert colours(page) == dark


def column(page, k):
    return page.locator("#sources tbody").first.locator(f"tr:not([hidden]) > :nth-child({k + 1})")


def test_heads_sort_by_number_and_by_name(browser, pages):
    with opened(browser, pages["plain"]) as (page, said):
        head = page.locator("#sources thead").first
        head.get_by_role("button", name="share").click()
        shares = [float(cell.get_attribute("data-v")) for cell in column(page, 2).all()]
        assert shares == sorted(shares, reverse=True) and len(shares) == 12
        assert head.locator("th", has_text="share").get_attribute("aria-sort") == "descending"
        head.get_by_role("button", name="share").press("Enter")
        assert [float(cell.get_attribute("data-v")) for cell in column(page, 2).all()] == sorted(shares)
        head.get_by_role("button", name="source").click()
        assert column(page, 0).all_text_contents() == [f"measure {k}" for k in range(12)] and said == []


def test_filter_leaves_what_matches_and_says_how_many(browser, pages):
    with opened(browser, pages["plain"]) as (page, said):
        page.get_by_label("Filter: Sources, the most relevant first").fill("MEASURE 1")
        assert sorted(column(page, 0).all_text_contents()) == [f"measure {k}" for k in (1, 10, 11)]
        assert page.locator("#sources output").first.text_content() == "3 of 12" and said == []


def test_hover_and_arrow_keys_say_what_a_mark_is(browser, pages):
    with opened(browser, pages["plain"]) as (page, said):
        tip = page.locator("#tip")
        assert tip.is_hidden()
        page.locator("#sources circle[data-t]").first.hover()
        assert tip.is_visible() and "95 % from" in tip.text_content()
        page.mouse.move(2, 2)
        assert tip.is_hidden()
        squares = page.locator("#alignment svg[data-marks]")
        squares.focus()
        squares.press("ArrowRight")
        first = tip.text_content()
        squares.press("ArrowDown")
        names = plain_report().facts["alignment"]["names"]
        assert names[0] in first and names[1] in tip.text_content() and names[0] in tip.text_content()
        squares.press("Escape")
        assert tip.is_hidden() and said == []


@pytest.mark.parametrize("kind", ["3 classes", "frame"])
def test_no_attack_runs_or_asks_for_anything(browser, tmp_path, kind):
    """Labels, names, ids and categories that are attacks; the page is used, and stays itself."""
    place = injected_report(kind).write(tmp_path / "attacked.html")
    with opened(browser, place) as (page, said):
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for mark in page.locator("circle[data-t], rect[data-t]").all()[:3]:
            mark.hover(force=True)
        for button in page.locator("th button").all()[:3]:
            button.click()
        page.wait_for_timeout(300)  # a refresh of 0 seconds would have left
        assert said == [] and page.url == place.as_uri() and page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img, iframe, i, b, object, link, base, form, [onerror], [onload], [src]").count() == 0
        assert page.locator("script").count() == 1 and page.locator("meta[http-equiv]").count() == 1
        assert "<img src=x onerror=hacked=1>" in page.locator("main").text_content()


def test_a_table_is_saved_as_tsv(browser, pages):
    with opened(browser, pages["plain"]) as (page, _):
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as TSV: Sources, the most relevant first").click()
        lines = download.value.path().read_text().splitlines()
        assert len(lines) == 13 and lines[0].split("\t")[0] == "source"
        assert len({line.count("\t") for line in lines}) == 1


def test_without_script_everything_is_there(browser, pages):
    with opened(browser, pages["plain"], script=False) as (page, _):
        assert page.locator("#sources tbody tr").count() >= 12 and page.locator("#theme").is_hidden()


def test_keyboard_reaches_what_can_be_used_and_shows_where_it_is(browser, pages):
    with opened(browser, pages["plain"]) as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        seen = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.tagName"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert {"BUTTON", "INPUT"} <= seen


def test_paper_has_no_buttons_and_black_ink(browser, pages):
    with opened(browser, pages["plain"], scheme="dark") as (page, _):
        page.emulate_media(media="print", color_scheme="dark")
        assert colours(page) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
        for gone in ("nav", "#theme", ".tools >> nth=0"):
            assert page.locator(gone).is_hidden()
        assert page.pdf()[:4] == b"%PDF"


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (e) => { for (; e; e = e.parentElement) {
    const found = rgba(getComputedStyle(e).backgroundColor); if (found[3] === 255) return found; }
    return [255, 255, 255, 255]; };
  const texts = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().width > 1
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && !["SCRIPT", "STYLE"].includes(e.tagName));
  return texts.map((e) => {
    const style = getComputedStyle(e), ink = rgba(e.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 90)];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_a_contrast_of_four_and_a_half(browser, pages, scheme):
    with opened(browser, pages["plain"], scheme=scheme) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        found = page.evaluate(CONTRAST)
        assert len(found) > 300 and [(ratio, where) for ratio, where in found if ratio < 4.5] == []
        page.evaluate("document.querySelector('h1').style.color = getComputedStyle(document.body).backgroundColor")
        assert min(page.evaluate(CONTRAST))[0] < 1.1  # it can fail


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("hostile", 1280, "light"),
        pytest.param("hostile", 360, "dark", marks=pytest.mark.slow),
        pytest.param("plain", 1280, "dark", marks=pytest.mark.slow),
        pytest.param("plain", 360, "light", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_fault(browser, pages, name, width, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason='axe-core is not installed: ".[browser]"')
    with opened(browser, pages[name], width, 800, scheme) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        result = axe.Axe().run(page)
    found = result["violations"]
    assert {"label", "button-name", "svg-img-alt", "empty-table-header"} <= {rule["id"] for rule in result["passes"]}
    assert [(v["id"], v["impact"], [n["html"][:120] for n in v["nodes"][:3]]) for v in found] == []
