"""A JetStream cluster of three, with three replicas, whose nodes are killed under two writers."""

from collections.abc import Callable
from itertools import islice

import pytest

from planwire.errors import EngineAway
from planwire.journal import Journal
from planwire.journal.engines import open_engine
from tests.servers.nats import cluster
from tests.torture.ledger import Outcome, judged
from tests.torture.writing import writers
from tests.waiting import until

#: Of each of two writers, before the second node is killed and after.
APPENDS = [
    pytest.param(20, marks=pytest.mark.timeout(400)),  # the bounds in it are shorter, and say more
    pytest.param(2_500, marks=[pytest.mark.torture, pytest.mark.timeout(1_200)]),
]


@pytest.mark.parametrize("appends", APPENDS)
def test_a_cluster_whose_leader_and_then_another_node_is_killed_loses_nothing(
    appends: int, proves: Callable[[str, str, str, Outcome], None]
) -> None:
    """Three replicas bear one loss at a time: the second node goes when the first has caught up."""
    with (
        cluster(3) as nodes,
        open_engine(nodes.url()) as journal,  # opening one during an election would fail
    ):
        assert "2 of 3 replicas" in journal.facts().promise
        first = nodes.leader()
        with writers(nodes.url(), appends, "one", "two") as before:
            before[0].has_written(appends // 4)
            first.kill()
            assert [each.wait(300) for each in before] == [0, 0]
        first.start()
        until(nodes.is_whole, 120)
        second = next(each for each in nodes.servers if each is not first)
        with writers(nodes.url(), appends, "three", "four") as after:
            after[0].has_written(appends // 4)
            second.kill()
            assert [each.wait(300) for each in after] == [0, 0]
        heard: list[int] = []
        until(lambda: _has_followed(journal, heard, 4 * appends), 120)
        assert heard == [*range(1, 4 * appends + 1)]
        outcome = judged(journal, ["race"], {each.name: each.acknowledged for each in (*before, *after)})
    proves("leader killed, then another node", "jetstream, 3 nodes", f"{4 * appends:,} appends", outcome)


def _has_followed(journal: Journal, heard: list[int], count: int) -> bool:
    """Follow from the beginning. Those who are left may still elect a leader, and say that they are away."""
    try:
        heard[:] = [each.recorded.seq for each in islice(journal.follow(0, timeout=120), count)]
    except EngineAway:
        return False
    return True
