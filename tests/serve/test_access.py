"""Who may ask for what: tokens, scopes, rates, and pages of other sites."""

import hmac
import json

import pytest

from afterwit.serve import access
from afterwit.serve.access import Caller, checked_scopes, is_loopback
from afterwit.serve.limits import Limits
from served import InProcess, Process, until

#: What each route needs; everything else that is in the document needs any token.
NEEDS = {
    ("post", "/models/{model}/predictions"): {"predict"},
    ("post", "/models/{model}/labels"): {"label"},
    ("post", "/models/{model}/examples"): {"predict", "label"},
    ("put", "/models/{model}"): {"admin"},
    ("delete", "/models/{model}"): {"admin"},
    ("put", "/models/{model}/file"): {"admin"},
    ("get", "/models/{model}/file"): {"admin"},
    ("get", "/models/{model}/log"): {"admin"},
    ("post", "/models/{model}/freeze"): {"admin"},
    ("post", "/models/{model}/unfreeze"): {"admin"},
    ("get", "/metrics"): {"admin"},
}
OPEN = ["/", "/healthz", "/readyz", "/openapi.json", "/static/page.js"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with a token for each set of scopes."""
    found = InProcess(tmp_path_factory.mktemp("access") / "a.db", only_here=False)
    sets = {"predict": {"predict"}, "label": {"label"}, "both": {"predict", "label"}, "admin": {"admin"}}
    found.secrets = {name: (scopes, found.tokens.add(name, scopes)) for name, scopes in sets.items()}
    found.service.access.refresh()
    yield found
    found.close()


def bearer(secret):
    return {"authorization": f"Bearer {secret}", "host": "models.example"}


def routes(service):
    document = service.ask("GET", "/openapi.json").json
    for path, operations in document["paths"].items():
        for method in operations:
            if path not in OPEN:
                yield method, path


def test_every_route_asks_for_its_scope(guarded):
    checked = 0
    for method, path in routes(guarded):
        needed = NEEDS.get((method, path), set())
        # What has no model and would go on for ever is only asked by whom it refuses.
        for scopes, secret in guarded.secrets.values():
            may = needed <= scopes or "admin" in scopes
            if path == "/live" and may:
                continue
            answer = guarded.ask(method.upper(), path.replace("{model}", "none"), headers=bearer(secret))
            assert (answer.status != 403) is may, (method, path, scopes)
            assert answer.status != 401
            checked += 1
    assert checked > 60


def test_without_a_token_that_is_known_nothing_is_answered(guarded):
    (_, secret), *_ = guarded.secrets.values()
    wrong = [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        f"Basic {secret}",
        secret,
        f"Bearer {secret[:-1]}",
        f"Bearer {secret}x",
        "Bearer \xff",
    ]
    for method, path in routes(guarded):
        for header in wrong:
            headers = {"host": "models.example", "authorization": header}
            answer = guarded.ask(method.upper(), path.replace("{model}", "none"), headers=headers)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), (path, header)
            assert secret[:-1] not in answer.body.decode()
    for path in ("/nothing", "/models/", "/docs"):
        assert guarded.ask("GET", path).status == 401
    for path in OPEN:
        assert guarded.ask("GET", path, headers={"host": "models.example"}).status == 200, path


def test_a_token_that_is_removed_is_soon_not_known(guarded):
    secret = guarded.tokens.add("brief", {"predict"})
    assert guarded.ask("GET", "/models", headers=bearer(secret)).status == 401
    guarded.service.access.refresh()
    assert guarded.ask("GET", "/models", headers=bearer(secret)).status == 200
    guarded.tokens.remove("brief")
    guarded.service.access.refresh()
    assert guarded.ask("GET", "/models", headers=bearer(secret)).status == 401


def test_without_tokens_a_service_that_others_reach_answers_nobody(tmp_path):
    service = InProcess(tmp_path / "a.db", only_here=False)
    try:
        assert service.ask("GET", "/models").status == 401
    finally:
        service.close()


def test_tokens_are_compared_in_constant_time_and_kept_as_hashes(guarded, monkeypatch):
    compared = []
    monkeypatch.setattr(access.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    scopes, secret = guarded.secrets["both"]
    assert guarded.ask("GET", "/models", headers=bearer(secret)).status == 200
    # All of them, wherever the right one is.
    assert len(compared) == len(guarded.secrets)
    assert hmac.compare_digest is not None
    kept = guarded.tokens.all()
    assert secret.encode() not in b"".join(token.digest for token in kept)
    assert {len(token.digest) for token in kept} == {32}
    assert "both" in {token.name for token in kept if token.scopes == scopes}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    found = InProcess(tmp_path_factory.mktemp("alone") / "a.db")
    yield found
    found.close()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8765", "[::1]", "[::1]:8765"])
def test_a_service_without_tokens_answers_by_the_names_of_this_machine(alone, host):
    for path in ("/models", "/", "/healthz"):
        assert alone.ask("GET", path, headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "192.168.0.1",
        "localhost:80:80",
        "localhost:",
        "::1",
    ],
)
def test_a_service_without_tokens_answers_by_no_other_name(alone, host):
    for path in ("/models", "/", "/healthz", "/nothing", "/models/a/predictions"):
        answer = alone.ask("GET", path, headers={"host": host})
        assert (answer.status, answer.error) == (
            403,
            "Host must be localhost or 127.0.0.1 or [::1], because this service has no tokens",
        )


def test_pages_of_other_sites_cannot_use_a_service_without_tokens(alone):
    other = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert alone.ask("GET", "/models", headers=other).status == 403
    assert alone.ask("GET", "/", headers={**other, "sec-fetch-mode": "navigate"}).status == 200
    assert alone.ask("GET", "/models", headers={"sec-fetch-site": "same-origin"}).status == 200
    # What a form can send is no content type of ours, wherever there is a body or could be one.
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"):
        for method, path in routes(alone):
            if method in ("post", "put"):
                path = path.replace("{model}", "none")
                assert alone.ask(method.upper(), path, headers={"content-type": kind}).status == 415, path


def test_a_bucket_is_filled_at_its_rate(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    caller = Caller("a", frozenset(), at=0.0)
    for _ in range(3):
        caller.spend(3.0)
    with pytest.raises(access.ServiceError) as refused:
        caller.spend(3.0)
    assert (refused.value.status, refused.value.headers) == (429, {"retry-after": "1"})
    now[0] = 0.34
    caller.spend(3.0)
    with pytest.raises(access.ServiceError):
        caller.spend(3.0)
    now[0] = 100.0
    for _ in range(3):
        caller.spend(3.0)
    with pytest.raises(access.ServiceError):
        caller.spend(3.0)
    slow = Caller("b", frozenset(), at=now[0])
    slow.spend(0.1)
    with pytest.raises(access.ServiceError) as refused:
        slow.spend(0.1)
    assert refused.value.headers == {"retry-after": "10"}


def test_each_token_has_its_own_rate(tmp_path):
    service = InProcess(tmp_path / "a.db", Limits(rate=0.5), only_here=False)
    try:
        first, second = (service.tokens.add(name, {"predict"}) for name in ("first", "second"))
        service.service.access.refresh()
        statuses = [
            service.ask("GET", "/models", headers=bearer(secret)).status for secret in (first, first, second, second)
        ]
        assert statuses == [200, 429, 200, 429]
        # A look at the tokens fills no bucket.
        service.service.access.refresh()
        answer = service.ask("GET", "/models", headers=bearer(first))
        assert (answer.status, int(answer.headers["retry-after"]) in (1, 2)) == (429, True)
        assert answer.error == "at most 0.5 requests a second are allowed; send batches, or wait"
        assert service.ask("GET", "/healthz").status == 200
    finally:
        service.close()


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_what_is_the_loopback_address(address, found):
    assert is_loopback(address) is found


def test_scopes_are_checked():
    assert checked_scopes("predict, label") == {"predict", "label"}
    for text in ("", "read", "predict,", "predict label"):
        with pytest.raises(access.InputError, match="--scope must be one or several of predict, label, admin"):
            checked_scopes(text)


# ------------------------------------------------------------------ the commands


def test_tokens_by_the_command_line(run_cli, tmp_path):
    added = run_cli("token", "add", "shop", "--scope", "predict,label", "--database", "a.db")
    assert added.returncode == 0, added.stderr
    secret = added.stdout.strip()
    assert len(secret) >= 43
    listed = run_cli("token", "list", "--database", "a.db")
    assert [line.split()[:2] for line in listed.stdout.splitlines()] == [["name", "scopes"], ["shop", "label,predict"]]
    found = json.loads(run_cli("token", "list", "--database", "a.db", "--json").stdout)
    assert [(each["name"], each["scopes"]) for each in found["tokens"]] == [("shop", ["label", "predict"])]
    assert secret not in listed.stdout
    for name in ("a.db", "a.db-wal"):
        if (tmp_path / name).exists():
            assert secret.encode() not in (tmp_path / name).read_bytes()
    again = run_cli("token", "add", "shop", "--scope", "admin", "--database", "a.db")
    assert (again.returncode, again.stderr) == (
        2,
        "afterwit: NAME must be one that no other token has; received 'shop'\n",
    )
    assert run_cli("token", "remove", "shop", "--database", "a.db").stdout == "removed shop\n"
    gone = run_cli("token", "remove", "shop", "--database", "a.db")
    assert (gone.returncode, gone.stderr.startswith("afterwit: NAME must be one of")) == (2, True)
    wrong = run_cli("token", "add", "shop", "--scope", "all", "--database", "a.db")
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)


def test_others_are_served_only_with_a_token(run_process, run_cli, tmp_path):
    import httpx

    refused = run_process("serve", "--host", "0.0.0.0", "--port", "0", "--database", "a.db")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "afterwit: --host must be a loopback address as long as there is no token; received '0.0.0.0'. "
        "Add a token first: afterwit token add NAME --scope predict,label,admin\n"
    )
    secret = run_cli("token", "add", "ops", "--scope", "admin", "--database", "a.db").stdout.strip()
    with Process(tmp_path, "--log-requests", database="a.db") as process, httpx.Client(base_url=process.url) as http:
        assert http.get("/models").status_code == 401
        headers = {"authorization": f"Bearer {secret}"}
        assert until(lambda: http.get("/models", headers=headers).status_code in (200, 503))
        # Tokens that are added while it runs are known soon.
        second = run_cli("token", "add", "shop", "--scope", "predict", "--database", "a.db").stdout.strip()
        until(lambda: http.get("/models", headers={"authorization": f"Bearer {second}"}).status_code == 200)
        http.get(f"/models?token={secret}", headers=headers)
        process.end()
        written = "".join(process.errors)
        assert '"event": "request"' in written
        assert secret not in written
        assert second not in written
