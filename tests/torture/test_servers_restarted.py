"""Two writers race on one session while their server restarts and their connections are cut."""

from collections.abc import Callable

import pytest

from planwire.journal.engines import open_engine
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.torture.ledger import Outcome, judged
from tests.torture.writing import writers

#: Appends of each of the two writers.
APPENDS = [60, pytest.param(5_000, marks=[pytest.mark.torture, pytest.mark.timeout(1_200)])]


@pytest.mark.parametrize("appends", APPENDS)
@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_two_writers_of_a_session_lose_nothing_while_their_server_restarts_and_connections_are_cut(
    engine: str, appends: int, proves: Callable[[str, str, str, Outcome], None]
) -> None:
    with own_server(engine) as server, writers(server.url, appends, "one", "two") as racing:
        for share in (5, 3, 2):
            racing[0].has_written(appends // share)
            server.network.cut()
            racing[1].has_written(appends // share)
            server.restart()
        assert [each.wait(1_000) for each in racing] == [0, 0]
        with open_engine(server.url) as journal:
            outcome = judged(journal, ["race"], {each.name: each.acknowledged for each in racing})
    proves("two writers, server restarted, connections cut", engine, f"{2 * appends:,} appends", outcome)
