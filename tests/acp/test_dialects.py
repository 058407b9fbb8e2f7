"""The dialect for each client, and what a new dialect takes."""

from typing import Any

import pytest
from msgspec.structs import replace

from planwire import (
    DIALECTS,
    V1,
    V1_DRAFT,
    V1_RFD,
    V2,
    Board,
    Dialect,
    Entry,
    ItemsPlan,
    Translator,
    dialect,
    negotiate,
    read,
    write,
)
from planwire.acp import Removal
from planwire.check import Checker
from planwire.errors import DialectError, UnknownDialect
from planwire.relay.capabilities import Capabilities
from tests.wire import answer, entry, items, removed, request, update_of


def v1(**capabilities: Any) -> dict[str, Any]:
    return {"protocolVersion": 1, "clientCapabilities": capabilities}


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({}, V1),
        ({"plan": {}}, V1_DRAFT),
        ({"plan": {"_meta": {}}}, V1_DRAFT),
        ({"planCapabilities": {}}, V1_RFD),
        ({"plan": {}, "planCapabilities": {}}, V1_DRAFT),
        ({"plan": None, "planCapabilities": {}}, V1_RFD),
        ({"plan": True}, V1),
        ({"plan": None}, V1),
        ({"plan": []}, V1),
        ({"planCapabilities": True}, V1),
    ],
)
def test_a_capability_is_an_object(capabilities: dict[str, Any], expected: Dialect) -> None:
    """R10, R15."""
    assert negotiate(v1(**capabilities), {"protocolVersion": 1}) == expected


def test_the_answered_version_decides() -> None:
    """R30."""
    assert negotiate({"protocolVersion": 2, "capabilities": {}}, {"protocolVersion": 2}) == V2
    assert negotiate({"protocolVersion": 2, "capabilities": {}}, {"protocolVersion": 1}) == V1
    assert negotiate({"protocolVersion": 2, "clientCapabilities": {"plan": {}}}, {"protocolVersion": 1}) == V1_DRAFT
    assert negotiate(v1(), {"protocolVersion": 2}) == V2


@pytest.mark.parametrize("request_", [None, [], "x", {}, {"clientCapabilities": None}, {"clientCapabilities": 5}])
@pytest.mark.parametrize("response", [None, [], "x", {}, {"protocolVersion": "2"}, {"protocolVersion": True}])
def test_nonsense_is_the_plainest_dialect(request_: Any, response: Any) -> None:
    assert negotiate(request_, response) == V1


def test_dialects_are_found_by_name() -> None:
    assert [dialect(name) for name in DIALECTS] == [V1, V1_RFD, V1_DRAFT, V2]


def test_an_unknown_dialect_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UnknownDialect, match="'v3': use one of v1, v1-rfd, v1-draft, v2"):
        dialect("v3")
    with pytest.raises(DialectError):
        dialect("")


@pytest.fixture
def v3(monkeypatch: pytest.MonkeyPatch) -> Dialect:
    """A new dialect, added the way an author would: as a row."""
    row = replace(V2, name="v3", version=3, option="v3", id_keys=("plan_id",), statuses=V2.statuses | {"blocked"})
    monkeypatch.setitem(DIALECTS, row.name, row)
    return row


def test_a_new_row_is_read_written_and_negotiated(v3: Dialect) -> None:
    said = items("p", entry("one", "blocked"), key="plan_id")
    reading = read(said, v3)
    assert reading.reports == ()
    [update] = reading.updates
    assert (update.id_keys, update.body) == (("plan_id",), ItemsPlan("p", (Entry("one", "medium", "blocked"),)))
    assert write(update, v3) == said
    assert read(removed("p", "plan_id")).updates[0].body == Removal("p")
    assert negotiate({"protocolVersion": 3, "capabilities": {}}, {"protocolVersion": 3}) is v3
    assert negotiate({"protocolVersion": 3, "capabilities": {}}, {"protocolVersion": 4}) is v3
    assert negotiate({"protocolVersion": 3, "capabilities": {}}, {"protocolVersion": 2}) is V2
    assert dialect("v3") is v3


def test_a_new_row_is_followed_translated_and_checked(v3: Dialect) -> None:
    board = Board()
    for line in (request("initialize", 0, protocolVersion=3, capabilities={}), answer(0, {"protocolVersion": 3})):
        board.apply(line)
    assert board.dialect is v3
    assert board.apply(items("p", entry("one"), key="plan_id")).reports == ()
    assert [*board.sessions["s1"].plans] == ["p"]

    assert update_of(*Translator(v3).translate(items("p", entry("one"), key="id")))["plan"]["plan_id"] == "p"
    assert update_of(*Translator(V2).translate(items("p", entry("one"), key="plan_id")))["plan"]["planId"] == "p"

    assert Capabilities.agreed({}, {"protocolVersion": 3, "capabilities": {}}).dialect is v3

    checker = Checker(v3)
    checker.hear(items("p", entry("one", "in_progress", "high"), key="plan_id"))
    checker.hear(items("q", entry("one", "in_progress", "high"), key="planId"))
    [finding] = checker.close().findings
    assert (finding.code, finding.line) == ("misspelled-id", 2)
    assert "this client reads `plan_id`" in finding.message
