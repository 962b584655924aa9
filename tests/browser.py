"""Pages in a real browser: headless Chromium opens them as people would, and says what is wrong with them.

def test_the_page(browser):
    for width in (DESKTOP, PHONE):
        for dark in (False, True):
            assert browser.look(path, width, dark).faults == []
"""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

DESKTOP, PHONE = 1280, 390
#: The names under which Chromium is installed, and what to do where it is not.
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "there is no Chromium on the PATH: install it (Debian: apt-get install chromium)"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever a page asks for, nothing leaves this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
INSPECTION = (Path(__file__).parent / "browser.js").read_text()


def chromium():
    """The path of Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass(frozen=True)
class Seen:
    """What is wrong with a page that was looked at: lists of readable lines, empty if nothing is."""

    #: Messages of the console and errors of scripts, and requests that failed.
    errors: list[str]
    #: Every request but that for the page itself and those for `data:`; whatever the page needs to be shown.
    requests: list[str]
    #: Those of them that go to another host, or from a file to any.
    leaving: list[str]
    #: Text that is cut, or wider than its place, the page or the picture, and labels that cover each other.
    overflowing: list[str]
    #: Pictures without a visible shape, and images without content.
    empty: list[str]

    @property
    def faults(self):
        """All that no page may have."""
        return [*self.errors, *(f"request: {each}" for each in self.leaving), *self.overflowing, *self.empty]


class Browser:
    """One headless Chromium; `with Browser() as browser` ends its process."""

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._chromium = self._playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        return self

    def __exit__(self, *_):
        self._chromium.close()
        self._playwright.stop()

    @contextmanager
    def page(self, target, width=DESKTOP, dark=False, listen=lambda page: None):
        """Playwright's page of a file or an address, loaded.

        listen  what is called with the page before it is loaded
        """
        context = self._chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            is_mobile=width < 600,
        )
        try:
            page = context.new_page()
            listen(page)
            page.goto(address(target), wait_until="load")
            yield page
        finally:
            context.close()

    def look(self, target, width=DESKTOP, dark=False, screenshot=None, pdf=None, until=None):
        """Open a file or an address, and say what is wrong with it.

        until       the selector of what a script of the page shows in the end
        screenshot  where to write the whole page as PNG, as it looks before anything is unfolded
        pdf         where to write it as it is printed
        """
        errors, requests = [], []

        def listen(page):
            page.on("console", lambda said: errors.append(f"console: {said.text}") if said.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(f"script: {error}"))
            page.on("requestfailed", lambda request: errors.append(f"failed: {request.url}"))
            page.on("request", lambda request: requests.append(request.url))

        with self.page(target, width, dark, listen) as page:
            if until is not None:
                page.wait_for_selector(until)
            if screenshot is not None:
                page.screenshot(path=screenshot, full_page=True)
            if pdf is not None:
                page.pdf(path=pdf, format="A4", print_background=True)
            found = page.evaluate(INSPECTION, width)
            own = page.url
            # What a page still listens to fails when it is closed.
            errors = list(errors)
        requests = [each for each in requests if each != own and urlsplit(each).scheme not in ("data", "blob")]
        leaving = [each for each in requests if not _stays(each, own)]
        return Seen(errors, requests, leaving, found["overflowing"], found["empty"])


def address(target):
    """The address of a file, or the address as it is."""
    text = str(target)
    return text if urlsplit(text).scheme in ("http", "https", "file", "data") else Path(text).resolve().as_uri()


def _stays(asked, own):
    asked, own = urlsplit(asked), urlsplit(own)
    return (asked.scheme, asked.netloc) == (own.scheme, own.netloc)
