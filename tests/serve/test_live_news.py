"""Server-sent events: each has what has changed since the one before, and nothing else."""

import json

import pytest

from afterwit.serve.operations import Delete, Learn
from served import InProcess
from served import until as eventually


@pytest.fixture
def service(tmp_path):
    made = InProcess(tmp_path / "served.db")
    for name in ("spam", "other"):
        assert made.ask("PUT", f"/models/{name}", {"learner": "perceptron"}).status == 201
    yield made
    made.close()


def learn(service, name, count):
    items = [(None, [1.0, float(i)], 1 if i % 2 else -1) for i in range(count)]
    service.engine.submit(Learn(name, items)).result(30)


def events(parts):
    """What was said, without comments."""
    texts = b"".join(parts).decode().split("\n\n")[:-1]
    return [json.loads(text.removeprefix("data: ")) for text in texts if text.startswith("data: ")]


def listen(service, path, count, query="", between=lambda said: None, part="service"):
    """So many events that have this part; ``between`` is called after each."""

    def enough(parts):
        said = [each for each in events(parts) if part in each]
        between(said)
        return len(said) >= count

    answer = service.ask("GET", path, until=enough, query=query)
    assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    return [each for each in events(answer.parts) if part in each]


def test_all_models_and_one_in_full(service):
    learn(service, "spam", 10)
    (said,) = listen(service, "/live", 1, "model=spam")
    assert said["models"] == service.engine.models()
    assert said["shown"] == {"model": service.engine.describe("spam"), "curve": service.engine.curve("spam")}
    assert said["service"]["state"] == "ready"
    assert said["service"]["now"] > 1_700_000_000_000_000


def test_without_a_model_and_with_an_unknown_one(service):
    (said,) = listen(service, "/live", 1)
    assert set(said) == {"service", "models"}
    (said,) = listen(service, "/live", 1, "model=..%2Fnone")
    assert said["shown"] is None


def test_only_what_has_changed_is_said(service):
    def between(said):
        if len(said) == 1:
            service.service.log.refusal(404, "GET", "/nothing", "there is nothing")
        elif len(said) == 2:
            learn(service, "other", 3)

    first, second, third = listen(service, "/live", 3, "model=spam", between)
    assert set(first) == {"service", "models", "shown"}
    assert set(second) == {"service"}
    assert [each["error"] for each in second["service"]["errors"]] == ["there is nothing"]
    assert set(third) == {"service", "models"}
    assert {each["model"]: each["rounds"] for each in third["models"]} == {"spam": 0, "other": 3}


def test_a_model_alone_as_long_as_it_is_there(service):
    def between(said):
        if len(said) == 1:
            learn(service, "spam", 4)
        elif len(said) == 2:
            service.engine.submit(Delete("spam")).result(30)

    first, second = listen(service, "/models/spam/live", 99, between=between)
    assert set(first) == set(second) == {"service", "shown"}
    assert [each["shown"]["curve"]["rounds"] for each in (first, second)] == [[], [1, 2, 3, 4]]
    assert eventually(lambda: service.service.watchers == 0)


def test_a_certificate_is_news(service):
    learn(service, "spam", 4)

    def between(said):
        if len(said) == 1:
            service.engine.certificate("spam", refresh=True)

    first, second = listen(service, "/live", 2, "model=spam", between, "shown")
    assert first["shown"]["model"]["certificate"] is None
    assert second["shown"]["model"]["certificate"]["rounds"] == 4
