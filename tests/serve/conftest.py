import itertools

import pytest

from postgres import MISSING, Postgres, programs

numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, one for all tests."""
    if programs() is None:
        pytest.skip(MISSING)
    with Postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of a fresh database, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "service.db")
    return request.getfixturevalue("postgres").address(f"database{next(numbers)}")


@pytest.fixture
def sqlite(tmp_path):
    return str(tmp_path / "service.db")
