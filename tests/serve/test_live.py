"""Server-sent events, the files of the page, and metrics."""

import json
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from afterwit.serve import live
from afterwit.serve.assets import POLICY
from afterwit.serve.operations import Create, Delete, Learn
from served import InProcess


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    found = InProcess(tmp_path_factory.mktemp("live") / "a.db")
    for model in ("spam", "other"):
        found.ask("PUT", f"/models/{model}", {"learner": "perceptron", "options": {"labels": ["ham", "spam"]}})
    yield found
    found.close()


def learn(service, model="spam"):
    assert service.ask("POST", f"/models/{model}/examples", {"x": {"a": 1}, "label": "ham"}).status == 200


def events(parts):
    """The events of a stream; a comment is None."""
    found = b"".join(parts).decode().split("\n\n")
    assert found.pop() == ""
    return [json.loads(each.removeprefix("data: ")) if each.startswith("data: ") else None for each in found]


def test_a_stream_begins_with_everything_and_goes_on_with_what_is_new(service, monkeypatch):
    monkeypatch.setattr(live, "PAUSE", 0.01)
    learn(service)
    seen = []

    def enough(parts):
        if len(parts) > len(seen):
            seen.append(parts[-1])
            # Learned while the stream is open, as another caller would.
            service.engine.submit(Learn("spam", [(None, {"a": 1}, "ham")]))
        return len(parts) == 3

    answer = service.ask("GET", "/models/spam/live", until=enough)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    found = events(answer.parts)
    for each in found:
        assert each["service"]["state"] == "ready"
        assert "models" not in each
    shown = [each["shown"] for each in found if "shown" in each]
    rounds = [each["model"]["totals"]["rounds"] for each in shown]
    assert rounds[0] >= 1
    assert rounds == sorted(set(rounds))
    for each in shown:
        assert each["model"]["model"] == "spam"
        assert each["curve"]["rounds"][-1] >= each["model"]["totals"]["rounds"]
    assert service.service.watchers == 0


def test_a_model_that_is_made_anew_is_news(service):
    def make(learner):
        service.engine.submit(Delete("other")).result(30)
        service.engine.submit(Create("other", learner, {"labels": ["ham", "spam"]})).result(30)
        service.engine.submit(Learn("other", [(None, {"a": 1}, "ham")])).result(30)

    def anew(parts):
        if len(parts) == 1:
            make("winnow")
        return sum("shown" in each for each in events(parts) if each) == 2

    make("perceptron")

    found = events(service.ask("GET", "/models/other/live", until=anew).parts)
    shown = [each["shown"]["model"] for each in found if "shown" in each]
    assert [each["learner"] for each in shown] == ["perceptron", "winnow"]
    # As many events as before, and yet another model.
    assert shown[0]["events"] == shown[1]["events"]


def test_the_stream_of_all_models_has_all_models(service):
    answer = service.ask("GET", "/live", until=lambda parts: True)
    (found,) = events(answer.parts)
    assert [model["model"] for model in found["models"]] == ["spam", "other"]
    service.ask("GET", "/nothing")
    (found,) = events(service.ask("GET", "/live", until=lambda parts: True).parts)
    last = found["service"]["errors"][-1]
    assert (last["status"], last["method"], last["path"]) == (404, "GET", "/nothing")
    assert last["error"] == "there is nothing at '/nothing'; /openapi.json lists what there is"


def test_a_silent_stream_shows_that_it_is_alive(service, monkeypatch):
    monkeypatch.setattr(live, "PAUSE", 0.01)
    monkeypatch.setattr(live, "SILENCE", 0.02)
    monkeypatch.setattr(service.service.requests, "per_second", lambda: 0.0)
    answer = service.ask("GET", "/models/other/live", until=lambda parts: len(parts) == 3)
    assert [each is None for each in events(answer.parts)] == [False, True, True]


def test_there_are_only_so_many_streams(service, monkeypatch):
    monkeypatch.setattr(service.service, "watchers", live.MOST_WATCHERS)
    answer = service.ask("GET", "/live")
    assert (answer.status, answer.headers["retry-after"]) == (503, "60")


def test_streams_end_when_the_service_does(service):
    service.service.stopping.set()
    try:
        assert service.ask("GET", "/live").parts == [b""]
    finally:
        service.service.stopping.clear()


def test_the_page_loads_only_from_here(service):
    page = service.ask("GET", "/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["content-security-policy"] == POLICY
    linked = re.findall(r'(?:href|src)="(static/[^"]+)"', page.body.decode())
    assert len(linked) > 4
    for path in linked:
        answer = service.ask("GET", f"/{path}")
        assert (answer.status, answer.headers["content-security-policy"]) == (200, POLICY)
        again = service.ask("GET", f"/{path}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
    for path in ("/static/none.js", "/static/../app.py", "/static/%2e%2e", "/static/"):
        assert service.ask("GET", path).status == 404


def metrics(service):
    answer = service.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.body.decode())
    return {(each.name, *sorted(each.labels.values())): each.value for family in families for each in family.samples}


def test_metrics_count_what_happened(service):
    before = metrics(service)
    learn(service)
    learn(service)
    service.ask("POST", "/models/spam/predictions", {"x": {"a": 1}})
    service.ask("POST", "/models/spam/predictions", {"x": 3})
    for path in ("/one", "/two"):
        service.ask("GET", path)
    after = metrics(service)

    def more(*key):
        return after.get(key, 0) - before.get(key, 0)

    assert more("afterwit_requests_total", "/models/{model}/examples", "200", "POST") == 2
    assert more("afterwit_requests_total", "/models/{model}/predictions", "200", "POST") == 1
    assert more("afterwit_requests_total", "/models/{model}/predictions", "422", "POST") == 1
    assert more("afterwit_requests_total", "404", "GET", "other") == 2
    assert more("afterwit_request_seconds_count", "/models/{model}/examples") == 2
    assert more("afterwit_request_seconds_bucket", "+Inf", "/models/{model}/examples") == 2
    assert more("afterwit_model_rounds_total", "spam") == 2
    assert more("afterwit_model_predictions_total", "spam") == 1
    assert more("afterwit_model_waiting", "spam") == 1
    assert more("afterwit_model_events_total", "spam") == 3
    assert more("afterwit_model_unsaved_events", "spam") == 3
    assert more("afterwit_commit_seconds_count") == 3
    assert more("afterwit_commit_events_sum") == 3
    assert after["afterwit_state", "ready"] == 1
    described = service.ask("GET", "/models/spam").json["totals"]
    assert after["afterwit_model_mistakes_total", "spam"] == described["mistakes"]


def test_metrics_and_health_are_there_while_models_are_not(tmp_path):
    service = InProcess(tmp_path / "a.db")
    second = None
    try:
        from afterwit.serve.engine import Engine

        second = Engine(str(tmp_path / "a.db"))
        second.start()
        assert second.wait_until("stand-by") == "stand-by"
        service.service.engine, first = second, service.engine
        assert service.ask("GET", "/healthz").json["state"] == "stand-by"
        answer = service.ask("GET", "/readyz")
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.error == "another server writes to this database; this one takes over when that one ends"
        assert metrics(service)["afterwit_state", "stand-by"] == 1
        assert service.ask("GET", "/models").status == 503
        service.service.engine = first
    finally:
        service.close()
        if second is not None:
            assert second.wait_until("ready") == "ready"
            second.stop()
