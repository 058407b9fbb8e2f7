"""A JetStream cluster of three, with three replicas, whose nodes are killed under two writers."""

from collections.abc import Callable

import pytest

from planwire.journal.engines import open_engine
from tests.servers.nats import cluster
from tests.torture.ledger import Outcome, judged
from tests.torture.writing import writers

APPENDS = [40, pytest.param(5_000, marks=[pytest.mark.torture, pytest.mark.timeout(1_200)])]


@pytest.mark.parametrize("appends", APPENDS)
def test_a_cluster_whose_leader_and_then_another_node_is_killed_loses_nothing(
    appends: int, proves: Callable[[str, str, str, Outcome], None]
) -> None:
    with (
        cluster(3) as nodes,
        open_engine(nodes.url()) as journal,  # whoever opens one during an election is soon told to come later
        writers(nodes.url(), appends, "one", "two") as racing,
    ):
        racing[0].has_written(appends // 4)
        first = nodes.leader()
        first.kill()
        racing[0].has_written(appends // 2)
        first.start()
        second = next(each for each in nodes.servers if each is not first)
        second.kill()
        assert [each.wait(1_000) for each in racing] == [0, 0]
        outcome = judged(journal, ["race"], {each.name: each.acknowledged for each in racing})
    proves("leader killed, then another node", "jetstream, 3 nodes", f"{2 * appends:,} appends", outcome)
