"""The page in a real browser, on a desktop and on a phone, before a service that says what a test wants."""

import json
from dataclasses import replace

import numpy as np
import pytest

import afterwit as aw
from afterwit.core import wording
from afterwit.core.certificate import Assumption, Basis
from afterwit.pictures._style import COLOURS
from browser import DESKTOP, PHONE
from fake_service import FakeService

HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;/script><script>alert(2)</script>" + "W" * 200
MICROSECONDS = 1_000_000
DRAWN = ".drawn canvas"


def totals(rounds=200, **what):
    """What a service counts of a classifier."""
    mistakes = rounds // 4
    found = {"predictions": rounds + 3, "labels": rounds, "examples": 0, "expired": 0, "unasked": 0, "waiting": 3}
    found |= {"rounds": rounds, "mistakes": mistakes, "error": mistakes / rounds if rounds else None, "lately": rounds}
    return found | {"error_lately": 0.2 if rounds else None} | what


def delays(mean=3_500.0, largest=864_000_000):
    rounds = {"spread": [], "mean": None if mean is None else 12.5, "largest": 170}
    return {"rounds": rounds, "milliseconds": {"spread": [], "mean": mean, "largest": largest}}


def model(name="spam", rounds=200, **what):
    """What a service says of a model."""
    said = {
        "model": name,
        "learner": "perceptron",
        "role": "classifier",
        "options": {"intercept": True, "labels": ["ham", "spam"]},
        "schema": None,
        "frozen": False,
        "created": 1_700_000_000 * MICROSECONDS,
        "events": 400,
        "totals": totals(rounds),
        "waiting": {"oldest": 1_700_000_000 * MICROSECONDS},
        "delays": delays(),
        "certificate": None,
    }
    return said | what


def curve(rounds=200, seed=0):
    """What a service says of the curve of a model."""
    mistakes = np.random.default_rng(seed).random(rounds) < 0.25
    at = np.arange(10, rounds + 1, 10)
    error = np.cumsum(mistakes)[at - 1] / at
    lately = [float(mistakes[end - 10 : end].mean()) for end in at]
    return {"rounds": at.tolist(), "error": error.tolist(), "lately": lately}


X, Y = [[1.0, 0.2], [-1.0, 0.3], [0.8, -0.1], [-0.7, 0.9]] * 50, [1, -1, 1, -1] * 50


def certificate(about="served", made=None):
    """What a service says of a certificate."""
    learner = aw.Perceptron()
    learner.learn_many(X, Y)
    made = learner.certificate(X, Y) if made is None else made
    points = [{"rounds": rounds, "bound": 0.4 * rounds, "hindsight": 0.1 * rounds} for rounds in (50, 100, 200)]
    return {"certificate": wording.to_dict(made), "about": about, "sentence": SENTENCES[about], "points": points}


SENTENCES = {
    "served": "The bound is about the predictions that were served.",
    "learning": "The bound is about predictions at the moment of learning, not about those that were served.",
}


def not_applicable():
    """A certificate whose theorem asks for what did not hold."""
    learner = aw.Perceptron()
    learner.learn_many(X, Y)
    made = learner.certificate(X, Y)
    failed = Assumption("the examples are separable", Basis.OBSERVED, False, f"they are not: {HOSTILE}")
    return certificate(made=replace(made, bound=None, assumptions=(*made.assumptions, failed), others=()))


def served(*models, **how):
    """A service with models, each with its curve and its certificate."""
    service = FakeService([each for each, *_ in models], **how)
    for said, drawn, made in models:
        service.curves[said["model"]] = drawn
        if made is not None:
            service.certificates[said["model"]] = made
    return service


NOTHING = {"rounds": [], "error": [], "lately": []}
HOSTILE_NAMES = [[HOSTILE, 0.7], ["second", 0.2], *([f"expert {i}", 0.01] for i in range(20))]
REGRESSOR = {name: each for name, each in totals().items() if name not in ("mistakes", "error", "error_lately")} | {
    "loss": 47.2,
    "mean_loss": 0.236,
    "mean_loss_lately": 12_345.678,
    "rmse": 0.486,
}
ERRORS = [
    {
        "at": 1_700_000_000.5,
        "status": 422,
        "method": "POST",
        "path": f"/models/{HOSTILE}",
        "error": f"x must be {HOSTILE}",
    }
] * 5

STATES = {
    "learning": lambda: served((model(), curve(), certificate())),
    "nothing": lambda: served(),
    "no rounds": lambda: served((model(rounds=0, delays=delays(None, 0), waiting={"oldest": None}), NOTHING, None)),
    "moment of learning": lambda: served((model(), curve(), certificate("learning"))),
    "not applicable": lambda: served((model(frozen=True), curve(), not_applicable())),
    "fifty models": lambda: served(*((model(f"model-{i}"), curve(seed=i), None) for i in range(50))),
    "hostile": lambda: served(
        (
            model(
                "W" * 100,
                options={HOSTILE: HOSTILE, "labels": [HOSTILE] * 20},
                schema={"columns": {HOSTILE: HOSTILE}},
                learner="committee",
                leader=HOSTILE,
                weights=HOSTILE_NAMES,
            ),
            curve(),
            certificate(),
        ),
        errors=ERRORS,
    ),
    "experts": lambda: served(
        (
            model(
                learner="mlpol",
                role="experts",
                totals=REGRESSOR | {"coverage": 0.913, "mean_width": 4.5, "infinite": 12},
                leader="warm",
                weights=[["warm", 0.93], ["cold", 0.07]],
            ),
            curve(),
            None,
        )
    ),
}


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [
        *((name, PHONE, True) for name in STATES),
        ("learning", DESKTOP, False),
        ("hostile", DESKTOP, True),
        ("fifty models", DESKTOP, False),
    ],
)
def test_nothing_is_wrong_with_it(browser, name, width, dark):
    with STATES[name]() as service:
        models = list(service.models)
        until = {0: "#no-models:not([hidden])"}.get(len(models), ".part-title h2")
        address = f"{service.address}#/{models[0]}" if models else service.address
        seen = browser.look(address, width, dark, until=until)
        assert seen.faults == []


@pytest.mark.parametrize(("width", "dark"), [(DESKTOP, True), (PHONE, False)])
def test_the_colours_of_the_curve_are_those_of_the_ground(browser, width, dark):
    with STATES["learning"]() as service, browser.page(service.address, width, dark) as page:
        page.wait_for_selector(DRAWN)
        happened = COLOURS["happened"][dark]
        assert page.evaluate(HAS_COLOUR, [happened])
        page.emulate_media(color_scheme="light" if dark else "dark")
        page.wait_for_function(HAS_COLOUR, arg=[COLOURS["happened"][not dark]])
        assert not page.evaluate(HAS_COLOUR, [happened])


#: Whether anything in the picture has this colour.
HAS_COLOUR = """([colour]) => {
  const canvas = document.querySelector(".drawn canvas");
  if (!canvas || !canvas.width) return false;
  const wanted = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255 && wanted.every((part, k) => data[i + k] === part)) return true;
  return false;
}"""
PICTURE = "document.querySelector('.drawn canvas').toDataURL()"


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_the_curve_moves_when_events_arrive(browser, width):
    with STATES["learning"]() as service, browser.page(service.address, width) as page:
        page.wait_for_selector(DRAWN)
        page.wait_for_selector(".numbers")
        page.click(".curve summary")
        page.wait_for_selector(".curve td")
        before, rows = page.evaluate(PICTURE), page.locator(".curve tbody tr").all_inner_texts()
        page.evaluate("""() => {
          window.said = [];
          new MutationObserver((all) => said.push(...all)).observe(document.getElementById("connection"),
            { childList: true, characterData: true, subtree: true });
        }""")
        service.curves["spam"] = curve(400)
        service.change("spam", totals=totals(400))
        page.wait_for_selector(".drawn[aria-label*='After 400 rounds']")
        assert page.evaluate(PICTURE) != before
        assert page.locator(".now dd").first.inner_text() == "400"
        assert "400 rounds" in page.locator("#models").inner_text()
        # The table stayed open, and goes on too.
        later = page.locator(".curve tbody tr").all_inner_texts()
        assert later != rows
        assert later[-1].startswith("400")
        # Numbers that move every second are not read aloud.
        assert page.evaluate("said.length") == 0
        assert page.locator("[aria-live], [role=status]").count() <= 3


def test_what_was_unfolded_stays(browser):
    """Also what has the focus, while everything around it changes."""
    with (
        served((model(schema={"columns": {}}), curve(), certificate())) as service,
        browser.page(service.address) as page,
    ):
        page.wait_for_selector(".numbers")
        for place in (".part-theorem", ".part-nested"):
            page.click(f"{place} summary")
        focus = "document.activeElement.parentElement.parentElement.className"
        assert page.evaluate(focus) == "part-nested"
        service.certificates["spam"] = certificate("learning")
        service.change("spam", totals=totals(1_000), events=2_000, certificate={"rounds": 1_000})
        page.wait_for_selector(".part-verdict:has-text('At the moment of learning')")
        assert page.locator(".part-made").inner_text().endswith("2,000")
        assert page.locator("details[open]").count() == 2
        assert page.evaluate(focus) == "part-nested"


def test_it_comes_back_when_the_service_does(browser):
    with STATES["learning"]() as service, browser.page(service.address) as page:
        page.wait_for_selector(DRAWN)
        service.stop()
        page.wait_for_selector(".connection.lost")
        assert "Trying again" in page.locator("#connection").inner_text()
        # What was known stays to be seen.
        assert page.locator(".now dd").first.inner_text() == "200"
        service.curves["spam"] = curve(300)
        service.models["spam"] |= {"totals": totals(300)}
        service.start()
        page.wait_for_selector(".connection.open")
        page.wait_for_selector(".drawn[aria-label*='After 300 rounds']")
        assert page.locator(".now dd").first.inner_text() == "300"


def test_names_are_text(browser):
    with STATES["hostile"]() as service:
        with browser.page(service.address) as page:
            dialogs = []
            page.on("dialog", lambda dialog: dialogs.append(dialog.message))
            page.wait_for_selector(".bars")
            page.wait_for_selector(".numbers")
            assert page.locator("img, script:not([src])").count() == 0
            assert dialogs == []
            assert "<img src=x" in page.locator(".bars").inner_text()
            assert "<img src=x" in page.locator("#errors").inner_text()
        assert "x" not in service.asked


def test_a_bound_about_learning_is_not_beside_what_was_served(browser):
    with STATES["moment of learning"]() as service, browser.page(service.address) as page:
        page.wait_for_selector(".verdict .small")
        said = page.locator(".part-verdict").inner_text()
        assert SENTENCES["learning"] in said
        assert "At the moment of learning: bound at most" in said
        assert page.locator(".numbers").count() == 0
        assert "bound" not in page.locator(".legend").inner_text()


def test_a_certificate_that_is_not_applicable_says_why(browser):
    with STATES["not applicable"]() as service, browser.page(service.address) as page:
        page.wait_for_selector(".verdict.not-applicable")
        assert page.locator(".number.bound .value").inner_text() == "none"
        assert "they are not: <img" in page.locator(".part-verdict").inner_text()


def test_a_fresh_certificate(browser):
    with served((model(), curve(), None)) as service, browser.page(service.address) as page:
        page.wait_for_selector(".part-verdict .verdict")
        assert "certificate has been made" in page.locator(".part-verdict").inner_text()

        def refreshed(name):
            service.certificates[name] = {
                "certificate": None,
                "points": [],
                "why": "it is on its way",
                "computing": True,
            }

        service.refreshed = refreshed
        page.click("text=Ask for a fresh certificate")
        page.wait_for_selector("text=A certificate is being computed")
        service.certificates["spam"] = certificate()
        page.wait_for_selector(".number.bound")
        assert page.locator("text=A certificate is being computed").count() == 0
        made = service.certificates["spam"]["certificate"]
        assert [page.locator(".number .value").nth(i).inner_text().split()[-1] for i in range(3)] == [
            each["shown"] for each in made["numbers"]
        ]
        assert "at round 200" in page.locator(".part-verdict").inner_text()


def test_a_token_is_asked_for_and_forgotten(browser):
    with served((model(), curve(), certificate()), token="s3cret") as service:
        with browser.page(service.address) as page:
            page.wait_for_selector("#token")
            assert page.locator("#rooms").is_hidden()
            page.fill("#token", "wrong")
            page.press("#token", "Enter")
            page.wait_for_selector("#why:has-text('not known')")
            page.fill("#token", "s3cret")
            page.press("#token", "Enter")
            page.wait_for_selector(DRAWN)
            assert page.locator("#access").is_hidden()
            assert page.evaluate("[localStorage.length, document.cookie, location.href]") == [0, "", service.address]
            with page.expect_download() as saved:
                page.click("text=Model file")
            assert saved.value.suggested_filename == "spam.aw"
            assert json.loads(saved.value.path().read_text()) == {"file": "spam"}
            page.reload()
            page.wait_for_selector(DRAWN)
            page.click("#forget")
            page.wait_for_selector("#token")
            assert page.evaluate("sessionStorage.length") == 0
        assert not any("s3cret" in each for each in service.asked)


def test_by_keyboard(browser):
    with STATES["fifty models"]() as service, browser.page(service.address, PHONE) as page:
        page.wait_for_selector("#models a")
        assert page.locator("main").is_hidden()
        for _ in range(3):
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.querySelector('.name').textContent") == "model-1"
        page.keyboard.press("Enter")
        page.wait_for_selector(DRAWN)
        assert page.locator("#side").is_hidden()
        assert page.evaluate("document.activeElement.id") == "main"
        assert page.title() == "model-1 · afterwit"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("#models a >> visible=true")
        assert page.locator("main").is_hidden()


def test_the_page_ends_where_its_content_does(browser):
    """Nothing that is hidden, or scrolled away, makes it longer."""
    with STATES["fifty models"]() as service, browser.page(service.address) as page:
        page.wait_for_selector(DRAWN)
        bottom = "document.getElementById('rooms').getBoundingClientRect().bottom"
        height, bottom = page.evaluate(f"[document.documentElement.scrollHeight, {bottom}]")
        assert height <= max(bottom + 1, 900)


def test_a_model_that_is_deleted_goes(browser):
    models = [(model(name), curve(), None) for name in ("first", "second")]
    with served(*models) as service, browser.page(f"{service.address}#/second") as page:
        page.wait_for_selector("h2:text-is('second')")
        del service.models["second"]
        service.change()
        page.wait_for_selector("h2:text-is('first')")
        assert page.locator("#models li").count() == 1
        # Nothing that is hidden makes the page longer than what is to be seen.
        ends = (
            "[document.documentElement.scrollHeight, document.getElementById('rooms').getBoundingClientRect().bottom]"
        )
        height, bottom = page.evaluate(ends)
        assert height <= max(bottom + 1, 900)
        del service.models["first"]
        service.change()
        page.wait_for_selector("#no-models:not([hidden])")
        assert page.locator("main").is_hidden()
