"""Which dialect a client is spoken to."""

from typing import Any

import pytest

from planwire import DIALECTS, V1, V1_DRAFT, V1_RFD, V2, Dialect, dialect, negotiate
from planwire.errors import DialectError, UnknownDialect


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
