"""Tokens: what is stored of them."""

import hashlib

import pytest

from afterwit.errors import InputError
from afterwit.serve.tables import Database
from afterwit.serve.tokens import Tokens


@pytest.fixture
def database(address):
    opened = Database(address)
    opened.prepare()
    yield opened
    opened.close()


def test_only_the_hash_is_kept(database, address):
    tokens = Tokens(database)
    secret = tokens.add("web", ["predict", "label"])
    assert len(secret) >= 43
    (found,) = tokens.all()
    assert (found.name, found.scopes) == ("web", {"predict", "label"})
    assert found.digest == hashlib.sha256(secret.encode()).digest()
    with database.reading.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM tokens").all()
    assert secret not in str(rows)
    assert tokens.add("batch", ["admin"]) != secret
    assert [each.name for each in tokens.all()] == ["batch", "web"]


def test_names(database):
    tokens = Tokens(database)
    tokens.add("web", ["predict"])
    with pytest.raises(InputError, match="one that no other token has"):
        tokens.add("web", ["predict"])
    with pytest.raises(InputError, match="1 to 100 letters"):
        tokens.add("../web", ["predict"])
    with pytest.raises(InputError, match=r"one of \['web'\]"):
        tokens.remove("other")
    tokens.remove("web")
    assert tokens.all() == []
