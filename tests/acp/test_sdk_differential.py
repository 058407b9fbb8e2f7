"""planwire beside the official Python SDK (PyPI `agent-client-protocol` 0.12.1), line by line.

planwire understands everything that the SDK understands of plans, in the same way. Where the SDK drops an entry or
rejects a notification, planwire keeps the usable parts and reports the rest. The cases at the end pin down what the SDK
does today, so that they fail when a newer one does better.
"""

import json
from typing import Any

import pytest
from acp.schema import (
    AgentPlanContentUpdate,
    AgentPlanRemovedUpdate,
    AgentPlanUpdate,
    InitializeRequest,
    PlanEntry,
    PlanUpdateFile,
    PlanUpdateItems,
    PlanUpdateMarkdown,
    SessionNotification,
)
from hypothesis import example, given
from pydantic import ValidationError

from planwire import V1, V1_DRAFT, V1_RFD, V2, Dialect, Translator, negotiate, read
from planwire.acp import Reading, Removal, Update
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from tests import strategies as some


def by_the_sdk(message: Fields) -> SessionNotification | None:
    """The SDK's reading of a notification; None if the SDK rejects it."""
    try:
        return SessionNotification.model_validate(message.get("params"))
    except ValidationError:
        return None


def entry_by_the_sdk(entry: Any) -> PlanEntry | None:
    try:
        return PlanEntry.model_validate(entry)
    except ValidationError:
        return None


clean_or_not = some.notifications(some.clean_updates()) | some.notifications(
    some.nearly_updates(), some.nearly(some.sessions)
)


def test_a_plan_of_a_custom_type_reaches_an_older_client_as_a_text_that_it_takes() -> None:
    """R19, R23: of the dialects, only version 2 has custom types. The text replaces what the client has of the plan."""
    tree = {"type": "_tree", "planId": "p", "nodes": [{"id": 1}]}
    update = {"sessionUpdate": "plan_update", "plan": tree}
    params = {"sessionId": "s", "update": update}
    line = some.compact({"jsonrpc": "2.0", "method": "session/update", "params": params})
    for known in (V1_RFD, V1_DRAFT):
        [sent] = Translator(known).translate(line)
        message = json.loads(sent)
        assert message["params"]["update"]["plan"]["type"] == "markdown"
        assert "_tree" in message["params"]["update"]["plan"]["content"]
        message["params"]["update"]["plan"]["planId"] = "p"  # this SDK knows only the spelling of v1-draft
        assert by_the_sdk(message) is not None
    assert Translator(V2).translate(line) == (line,)


# Whatever the SDK understands


@given(some.notifications(some.clean_updates()))
def test_what_is_clean_is_understood_by_both(message: Fields) -> None:
    """R6, R7, R11, R13"""
    assert by_the_sdk(message) is not None
    assert all(update.body is not None for update in read(some.compact(message)).updates)


@given(clean_or_not)
def test_what_the_sdk_understands_means_the_same_to_planwire(message: Fields) -> None:
    notification = by_the_sdk(message)
    if notification is None:
        return
    (update,) = read(some.compact(message), V1).updates
    assert update.session == notification.session_id
    assert object_or_none((update.envelope.params or {}).get("_meta")) == notification.field_meta
    match notification.update:
        case AgentPlanUpdate() as by_sdk:
            assert isinstance(update.body, ItemsPlan)
            assert update.body.id is None
            assert update.body.meta == by_sdk.field_meta
            assert_keeps_entries(update.body, by_sdk.entries)
        case AgentPlanContentUpdate() as by_sdk:
            assert_same_plan(update.body, by_sdk.plan)
            assert object_or_none((update.envelope.update or {}).get("_meta")) == by_sdk.field_meta
        case AgentPlanRemovedUpdate() as by_sdk:
            assert update.body == Removal(by_sdk.plan_id)
            assert object_or_none((update.envelope.update or {}).get("_meta")) == by_sdk.field_meta


def object_or_none(meta: Any) -> Fields | None:
    """The SDK takes a `_meta` that is no object for none at all."""
    return meta if isinstance(meta, dict) else None


def assert_same_plan(body: object, by_sdk: PlanUpdateItems | PlanUpdateMarkdown | PlanUpdateFile) -> None:
    assert isinstance(body, ItemsPlan | MarkdownPlan | FilePlan)
    assert (body.id, body.kind, body.meta) == (by_sdk.plan_id, by_sdk.type, by_sdk.field_meta)
    match by_sdk:
        case PlanUpdateItems():
            assert isinstance(body, ItemsPlan)
            assert_keeps_entries(body, by_sdk.entries)
        case PlanUpdateMarkdown():
            assert isinstance(body, MarkdownPlan)
            assert body.content == by_sdk.content
        case PlanUpdateFile():
            assert isinstance(body, FilePlan)
            assert body.uri == by_sdk.uri


def assert_keeps_entries(plan: ItemsPlan, by_sdk: list[PlanEntry]) -> None:
    """Every entry that the SDK keeps is in the plan, in the same order, with the same words."""
    kept = iter((entry.content, entry.priority, entry.status, entry.meta) for entry in plan.entries)
    for entry in by_sdk:
        assert (entry.content, entry.priority, entry.status, entry.field_meta) in kept


# Whatever the SDK does not understand


@given(some.entry_lists_json())
@example([{"content": "a", "priority": None, "status": "pending"}])
@example([{"content": "a", "priority": "low", "status": ""}, "b"])
def test_entries_that_the_sdk_drops_are_kept_and_reported(entries: list[Any]) -> None:
    """R6, R7, R21"""
    reading = read(notification({"sessionUpdate": "plan", "entries": entries}), V1)
    (update,) = reading.updates
    assert isinstance(update.body, ItemsPlan)
    assert len(update.body.entries) == len(entries)
    reported = [report.where for report in reading.reports]
    for at, (entry, kept) in enumerate(zip(entries, update.body.entries, strict=True)):
        by_sdk = entry_by_the_sdk(entry)
        if by_sdk is None:
            assert any(where.startswith(f"params.update.entries[{at}]") for where in reported)
        else:
            assert (kept.content, kept.priority, kept.status) == (by_sdk.content, by_sdk.priority, by_sdk.status)
            assert kept.meta == by_sdk.field_meta


@given(clean_or_not)
def test_a_notification_that_the_sdk_rejects_is_an_update_or_a_report(message: Fields) -> None:
    """R21, R22"""
    if by_the_sdk(message) is None:
        reading = read(some.compact(message), V1)
        assert reading.updates or reading.reports
        assert reading.reports or all(is_understood(update) for update in reading.updates)


def is_understood(update: Update) -> bool:
    """Whether an update is one that the SDK does not know and planwire does: an older spelling, a custom kind."""
    return update.id_keys == ("id",) or isinstance(update.body, OtherPlan)


# What the SDK does today, case by case


def notification(update: Any) -> bytes:
    params = {"sessionId": "s1", "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def sdk_and_planwire(update: Fields) -> tuple[SessionNotification | None, Reading]:
    line = notification(update)
    return by_the_sdk(json.loads(line)), read(line, V1)


def entry(**fields: Any) -> Fields:
    """An entry as it should be, but for these fields; None leaves one out."""
    whole = {"content": "a", "priority": "low", "status": "pending", **fields}
    return {name: value for name, value in whole.items() if value is not None}


GOOD = entry(content="good")
KEPT = Entry("good", "low", "pending")


def plan_of(entries: Any) -> Fields:
    return {"sessionUpdate": "plan", "entries": entries}


def items_of(entries: Any) -> Fields:
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": entries}}


@pytest.mark.parametrize("around", [plan_of, items_of], ids=["plan", "items"])
@pytest.mark.parametrize(
    ("bad", "kept", "code"),
    [
        (entry(status="cancelled"), Entry("a", "low", "cancelled"), "unknown-status"),
        (entry(status="_y"), Entry("a", "low", "_y"), "unknown-status"),
        (entry(priority="_z"), Entry("a", "_z", "pending"), "unknown-priority"),
        (entry(priority=None), Entry("a", None, "pending"), "no-priority"),
        (entry(status=None), Entry("a", "low", "pending"), "no-status"),
        ({**entry(), "priority": None}, Entry("a", None, "pending"), "no-priority"),
        ({**entry(), "status": None}, Entry("a", "low", "pending"), "no-status"),
        ("a", Entry("a", None, "pending"), "entry-not-an-object"),
        ({**entry(), "content": None}, None, "no-content"),
        (entry(content=None), None, "no-content"),
    ],
    ids=str,
)
def test_an_entry_that_the_sdk_drops_in_silence(around: Any, bad: Any, kept: Entry | None, code: str) -> None:
    """R6, R7. The good entry after it shows that the SDK drops only the bad one, and planwire none."""
    notification, reading = sdk_and_planwire(around([bad, GOOD]))
    assert notification is not None
    assert [each.content for each in entries_of(notification)] == ["good"]
    (update,) = reading.updates
    assert isinstance(update.body, ItemsPlan)
    first, second = update.body.entries
    assert second == KEPT
    assert kept is None or first == kept
    assert first.content
    assert code in [report.code for report in reading.reports]


def entries_of(notification: SessionNotification) -> list[PlanEntry]:
    update = notification.update
    if isinstance(update, AgentPlanContentUpdate) and isinstance(update.plan, PlanUpdateItems):
        return update.plan.entries
    assert isinstance(update, AgentPlanUpdate)
    return update.entries


@pytest.mark.parametrize(
    "update",
    [
        plan_of(None),
        plan_of("x"),
        {"sessionUpdate": "plan"},
        items_of(None),
        items_of("x"),
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p"}},
    ],
    ids=str,
)
def test_entries_that_are_no_list_are_rejected_by_the_sdk_and_leave_the_plan_as_it_was(update: Fields) -> None:
    """R6: only a real [] clears a plan."""
    notification, reading = sdk_and_planwire(update)
    assert notification is None
    assert [each.body for each in reading.updates] == [None]
    assert [report.code for report in reading.reports] == ["entries-not-a-list"]


def test_keys_that_the_sdk_loses_are_kept() -> None:
    """R21, R31"""
    notification, reading = sdk_and_planwire({**plan_of([{**GOOD, "id": 7}]), "id": "x", "timestamp": 1})
    assert notification is not None
    assert "timestamp" not in notification.model_dump_json()
    expected = ItemsPlan(None, (Entry("good", "low", "pending", extra={"id": 7}),), extra={"id": "x", "timestamp": 1})
    assert [update.body for update in reading.updates] == [expected]


@pytest.mark.parametrize("meta", ["text", 1, [1], True])
def test_a_meta_that_is_no_object_is_lost_to_the_sdk_and_kept_by_planwire(meta: Any) -> None:
    notification, reading = sdk_and_planwire({**plan_of([{**GOOD, "_meta": meta}]), "_meta": meta})
    assert notification is not None
    assert notification.update.field_meta is None
    assert entries_of(notification)[0].field_meta is None
    expected = ItemsPlan(None, (Entry("good", "low", "pending", extra={"_meta": meta}),), extra={"_meta": meta})
    assert [update.body for update in reading.updates] == [expected]
    assert [report.code for report in reading.reports] == ["bad-meta", "bad-meta"]


@pytest.mark.parametrize(
    ("plan", "body"),
    [
        ({"type": "items", "entries": [GOOD]}, ItemsPlan("p", (KEPT,))),
        ({"type": "markdown", "content": "# a"}, MarkdownPlan("p", "# a")),
        ({"type": "file", "uri": "file:///a.md"}, FilePlan("p", "file:///a.md")),
    ],
    ids=["items", "markdown", "file"],
)
def test_the_older_spelling_of_the_id_is_rejected_by_the_sdk_and_read_by_planwire(plan: Fields, body: Plan) -> None:
    """R11: the draft renamed the key but not the capability."""
    newer, reading = sdk_and_planwire({"sessionUpdate": "plan_update", "plan": {**plan, "planId": "p"}})
    assert newer is not None
    assert reading.updates[0].body == body
    older, reading = sdk_and_planwire({"sessionUpdate": "plan_update", "plan": {**plan, "id": "p"}})
    assert older is None
    assert reading.updates[0].body == body
    assert reading.updates[0].id_keys == ("id",)
    assert reading.reports == ()


def test_a_relative_uri_is_accepted_by_both_and_reported_by_planwire() -> None:
    """R25"""
    plan = {"type": "file", "planId": "p", "uri": "docs/plan.md"}
    notification, reading = sdk_and_planwire({"sessionUpdate": "plan_update", "plan": plan})
    assert notification is not None
    assert reading.updates[0].body == FilePlan("p", "docs/plan.md")
    assert [report.code for report in reading.reports] == ["uri-not-absolute"]


@pytest.mark.parametrize("ids", [{"planId": "p"}, {}], ids=["with an id", "without an id"])
def test_a_custom_kind_is_rejected_by_the_sdk_and_kept_whole_by_planwire(ids: Fields) -> None:
    """R18, R23"""
    plan = {"type": "_tree", "nodes": [1, 2], **ids}
    notification, reading = sdk_and_planwire({"sessionUpdate": "plan_update", "plan": plan})
    assert notification is None
    assert reading.updates[0].body == OtherPlan(ids.get("planId"), "_tree", {"nodes": [1, 2]})
    assert [report.code for report in reading.reports] == ([] if ids else ["no-plan-id"])


def test_a_removal_with_the_older_key_is_rejected_by_the_sdk_and_read_by_planwire() -> None:
    """R13"""
    newer, reading = sdk_and_planwire({"sessionUpdate": "plan_removed", "planId": "p"})
    assert newer is not None
    assert reading.updates[0].body == Removal("p")
    older, reading = sdk_and_planwire({"sessionUpdate": "plan_removed", "id": "p"})
    assert older is None
    assert reading.updates[0].body == Removal("p")


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "_custom", "plan": {"type": "items"}},
        {"sessionUpdate": "notice", "severity": "info", "title": "t"},
        {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"},
    ],
    ids=lambda update: update["sessionUpdate"],
)
def test_an_update_that_is_not_about_plans_is_rejected_by_the_sdk_and_a_plain_message_to_planwire(
    update: Fields,
) -> None:
    """R33"""
    notification, reading = sdk_and_planwire(update)
    assert notification is None
    assert (reading.updates, reading.reports) == ((), ())
    assert [message.method for message in reading.messages] == ["session/update"]


@pytest.mark.parametrize(
    ("capabilities", "set_for_the_sdk", "dialect"),
    [
        ({"plan": {}}, True, V1_DRAFT),
        ({"plan": {"_meta": {"a": 1}}}, True, V1_DRAFT),
        ({"plan": True}, False, V1),
        ({"plan": None}, False, V1),
        ({}, False, V1),
        ({"planCapabilities": {}}, False, V1_RFD),
    ],
    ids=str,
)
def test_a_plan_capability_is_an_object(capabilities: Fields, set_for_the_sdk: bool, dialect: Dialect) -> None:
    """R8, R10, R15"""
    params = {"protocolVersion": 1, "clientCapabilities": capabilities}
    by_sdk = InitializeRequest.model_validate(params).client_capabilities
    assert by_sdk is not None
    assert (by_sdk.plan is not None) == set_for_the_sdk
    assert negotiate(params, {"protocolVersion": 1}) == dialect
