"""Chromium, driven by playwright, for the tests that open pages; where there is none they are skipped, and say so."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing():
    """What is missing to open pages, in words, or nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return 'playwright is not installed: pip install ".[browser]"'
    return "" if program() else f"none of {', '.join(NAMES)} is on the path; CHROMIUM=/path/to/it names one"


def program():
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


needs_browser = pytest.mark.skipif(bool(missing()), reason=f"PAGES WERE NOT OPENED IN A BROWSER: {missing()}")


@contextmanager
def chromium():
    """A browser that may reach nothing but files."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
        browser = driver.chromium.launch(executable_path=program(), args=options)
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, width=1280, height=900, scheme="light", script=True):
    """(page, messages): what the console, errors and requests for anything but the file itself said."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=script,
        accept_downloads=True, reduced_motion="reduce",
    )  # fmt: skip
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: None if request.url == path.as_uri() else said.append(request.url))
    page.goto(path.as_uri())
    yield page, said
    context.close()
