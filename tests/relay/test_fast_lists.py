"""Lists that leave unread are what they would have become with care."""

import json
from random import Random
from typing import Final

import pytest

from planwire import V1, V1_DRAFT, V1_RFD, V2, Board, Dialect, Translator
from planwire.relay.actions import RecordLine
from planwire.relay.envelope import list_on
from tests.agents.driving import Talk
from tests.wire import JSON, both_keys, entry, items, line, plan, removed, text

CLIENTS: Final[list[tuple[Dialect, JSON, int]]] = [
    (V1, {}, 1),
    (V1_RFD, {"planCapabilities": {}}, 1),
    (V1_DRAFT, {"plan": {}}, 1),
    (V2, {}, 2),
]


def a_line(luck: Random) -> bytes:
    steps = [entry('a ] } , "id"', luck.choice(["pending", "completed"])) for _ in range(luck.randint(0, 3))]
    odd = [entry("odd", luck.choice(["pending", "cancelled"])), *([] if luck.random() < 0.8 else ["text"])]
    plan_id = luck.choice(["p", "p", "p", "q", "main"])
    made: list[bytes] = [
        items(plan_id, *steps),
        items(plan_id, *steps, key="id"),
        items(plan_id, *steps, id=plan_id),
        items(plan_id, *steps, id="other"),
        items(plan_id, *steps).replace(b'"planId":"p",', b"").replace(b"]}}}", b'],"planId":"p"}}}'),
        json.dumps(json.loads(items(plan_id, *steps))).encode(),
        items(plan_id, *steps, _meta={"entries": [entry("no")]}),
        items(plan_id, *odd),
        plan(*steps),
        plan(*odd),
        line({"entries": steps, "sessionUpdate": "plan"}),
        removed(plan_id),
        text(plan_id, "# Text"),
        items(plan_id, *steps)[:-2],
    ]
    return luck.choice(made if luck.random() < 0.4 else made[: luck.choice([1, 2, 3])])


@pytest.mark.parametrize(("dialect", "capabilities", "version"), CLIENTS, ids=str)
def test_whatever_comes_in_between_the_client_gets_what_the_translator_says(
    dialect: Dialect, capabilities: JSON, version: int
) -> None:
    """R4, R12, R17."""
    for seed in range(10):
        luck = Random(seed)
        talk, translator, board = Talk(capabilities, version), Translator(dialect), Board()
        for sent in [a_line(luck) for _ in range(40)]:
            assert talk.agent(sent) == [*translator.translate(sent)], sent
            board.apply(sent)
        plans = {plan_id: each.state.plan for plan_id, each in talk.state().live().items()}
        assert plans == {plan_id: each.plan for plan_id, each in board.sessions["s1"].plans.items()}


@pytest.mark.parametrize(
    ("capabilities", "sent", "got"),
    [
        ({}, plan, plan),
        ({"plan": {}}, lambda *steps: items("p", *steps), lambda *steps: both_keys(items("p", *steps))),
        ({"plan": {}}, lambda *steps: items("p", *steps, id="p"), lambda *steps: items("p", *steps, id="p")),
        ({"planCapabilities": {}}, lambda *steps: items("p", *steps), lambda *steps: items("p", *steps, key="id")),
        (
            {"planCapabilities": {}},
            lambda *steps: items("p", *steps, key="id").replace(b'"id":"p",', b"").replace(b"]}}}", b'],"id":"p"}}}'),
            lambda *steps: items("p", *steps, key="id").replace(b'"id":"p",', b"").replace(b"]}}}", b'],"id":"p"}}}'),
        ),
    ],
)
def test_a_list_that_comes_again_leaves_unread(capabilities: JSON, sent: object, got: object) -> None:
    assert callable(sent)
    assert callable(got)
    talk = Talk(capabilities)
    for status in ("pending", "in_progress", "completed"):
        assert talk.agent(sent(entry("a", status))) == [got(entry("a", status))]
    assert [each.line for each in talk.actions if isinstance(each, RecordLine)] == [
        sent(entry("a", status)) + b"\n" for status in ("in_progress", "completed")
    ]
    assert [each.state.plan for each in talk.state().live().values()] == [list_on(sent(entry("a", "completed")))]
