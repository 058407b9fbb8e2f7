"""What tests of journals share: an empty one of every engine, and the path of one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal
from tests.journal.test_contract import ENGINES


@pytest.fixture(params=ENGINES)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with ENGINES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"
