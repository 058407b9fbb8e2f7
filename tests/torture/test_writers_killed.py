"""Writers that are killed at any moment, on every durable engine: each acknowledged event is there, once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers.own import DURABLE_ENGINES, journal_in
from tests.torture.ledger import Outcome
from tests.torture.writing import killed_again_and_again

#: Of 500 kills, each engine takes a third.
KILLS = [3, pytest.param(167, marks=[pytest.mark.torture, pytest.mark.timeout(1_200)])]


@pytest.mark.parametrize("kills", KILLS)
@pytest.mark.parametrize("engine", DURABLE_ENGINES)
def test_whatever_a_killed_writer_was_told_is_in_the_journal_once(
    engine: str, kills: int, tmp_path: Path, proves: Callable[[str, str, str, Outcome], None]
) -> None:
    with journal_in(tmp_path, engine) as (url, _):
        proves("writers killed", engine, f"{kills} kills", killed_again_and_again(url, kills))
