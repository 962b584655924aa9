"""The page before the real service: a stream of events, a kill, a restart, tokens."""

import numpy as np

import afterwit as aw
from afterwit.client import Client
from served import Process, until

DRAWN = ".drawn canvas"


def stream(client, name, rounds, seed):
    """Predictions whose labels come late; returns how many rounds were learned."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4))
    y = np.where(X @ np.arange(1, 5) + rng.normal(size=rounds) > 0, 1, -1)
    ids = [f"{seed}-{i}" for i in range(rounds)]
    client.predict_many(name, X, ids)
    client.label_many(name, ids[: rounds - 3], y[: rounds - 3])
    return rounds - 3


def rounds_shown(page, rounds):
    page.wait_for_selector(f".drawn[aria-label*='After {rounds} rounds']")


def test_a_stream_a_kill_and_a_restart(browser, tmp_path):
    errors, requests = [], []

    def listen(page):
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))

    with Process(tmp_path) as service, Client(service.url) as client:
        client.create("spam", "perceptron")
        client.create("mixed", "committee")
        stream(client, "mixed", 40, 0)
        address, port = f"{service.url}/#/spam", service.port
        with browser.page(address, listen=listen) as page:
            page.wait_for_selector(".nothing")
            learned = stream(client, "spam", 100, 1)
            rounds_shown(page, learned)
            before = page.evaluate("document.querySelector('.drawn canvas').toDataURL()")
            learned += stream(client, "spam", 100, 2)
            rounds_shown(page, learned)
            assert page.evaluate("document.querySelector('.drawn canvas').toDataURL()") != before
            totals = client.describe("spam")["totals"]
            shown = [f"{learned}", f"{totals['error']:.2%}", f"{totals['error_lately']:.2%}", "6"]
            assert page.locator(".now dd").all_inner_texts() == shown
            assert errors == []

            # What was said is on disk: a killed service comes back with it, and so does the page.
            service.process.kill()
            service.process.wait(30)
            page.wait_for_selector(".connection.lost")
            with Process(tmp_path, port=port) as again, Client(again.url) as client:
                page.wait_for_selector(".connection.open")
                assert page.locator(".now dd").all_inner_texts() == shown
                page.click("text=Ask for a fresh certificate")
                page.wait_for_selector(f".part-verdict:has-text('at round {learned}')")
                made = until(lambda: client.certificate("spam")["certificate"])
                values = page.locator(".number .value").all_inner_texts()
                assert [each.split()[-1] for each in values] == [each["shown"] for each in made["numbers"]]
                assert "This is about the predictions that callers got." in page.locator(".part-verdict").inner_text()
                with page.expect_download() as saved:
                    page.click("text=Model file")
                assert aw.load(saved.value.path()).rounds == learned
                page.goto(f"{again.url}/#/mixed")
                page.wait_for_selector(".bars li")
                weights = client.describe("mixed")["weights"]
                assert page.locator(".bars .of").all_inner_texts() == [name for name, _ in weights]
    assert all(each.startswith((service.url, "blob:")) for each in requests)


def test_tokens_of_a_real_service(browser, run_cli, tmp_path):
    said = run_cli("token", "add", "reader", "--scope", "label", "--database", "served.db")
    token = next(word for word in said.stdout.split() if len(word) > 30)
    with Process(tmp_path) as service, browser.page(service.url) as page:
        page.wait_for_selector("#token")
        page.fill("#token", "not" + token)
        page.press("#token", "Enter")
        page.wait_for_selector("#why:not(:has-text('asks for a token'))")
        page.fill("#token", token)
        page.press("#token", "Enter")
        page.wait_for_selector("#no-models:not([hidden])")
        assert page.locator(".connection.open").count() == 1
