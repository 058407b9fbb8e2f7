"""What holds for every line and every conversation, whatever is in it.

Rules of the protocol are cited by their number (R1, R2 …), as reports cite them.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import pytest
from acp.schema import (
    AgentMessageChunk,
    AgentPlanContentUpdate,
    AgentPlanUpdate,
    PlanEntry,
    PlanUpdateItems,
    SessionNotification,
)
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire import (
    DIALECTS,
    V1,
    V1_DRAFT,
    V1_RFD,
    V2,
    Board,
    Dialect,
    Reading,
    Translator,
    Update,
    read,
    write,
)
from planwire.acp import AGENT, CLIENT, Removal
from planwire.acp.write import fitted
from planwire.model import markdown
from planwire.model.identity import track
from planwire.model.kinds import text_of
from planwire.model.plan import Entry, Fields, ItemsPlan, MarkdownPlan, Plan
from tests import strategies as some
from tests.model.diffs import apply

every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
dialects_with_ids = pytest.mark.parametrize("dialect", [V1_RFD, V1_DRAFT, V2], ids=["v1-rfd", "v1-draft", "v2"])
ways = st.sampled_from([*some.WAYS_OF_WRITING, lambda value: b"\xef\xbb\xbf" + some.compact(value)])
senders = st.sampled_from((None, CLIENT, AGENT))


def exactly(value: Any) -> bytes:
    """A value as JSON, by which it can be told whether two are the same in everything: to Python, 1 is 1.0 and True."""
    return msgspec.json.encode(value, order="sorted")


def notification(update: Fields) -> Fields:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}}


# Reading what was written


@every_dialect
@some.a_third_each
@given(data=st.data())
def test_what_was_written_is_read_as_the_same_update(dialect: Dialect, data: st.DataObject) -> None:
    """R6, R11, R13, R18, R21, R24: every field, `_meta` at every level, unknown fields and values included."""
    update = data.draw(some.updates_for(dialect))
    reading = read(write(update, dialect))
    assert reading == Reading((update,))
    assert exactly(reading) == exactly(Reading((update,)))


@every_dialect
@some.a_third_each
@given(data=st.data())
def test_what_was_read_is_written_as_it_came(dialect: Dialect, data: st.DataObject) -> None:
    """R21, R46: forwarding keeps what it does not understand."""
    line = write(data.draw(some.updates_for(dialect)), dialect)
    (update,) = read(line).updates
    assert json.loads(write(update, dialect)) == json.loads(line)


@given(st.binary() | some.texts)
def test_text_is_read_like_its_bytes(text: bytes | str) -> None:
    line = text if isinstance(text, bytes) else text.encode()
    assert read(bytearray(line)) == read(memoryview(line)) == read(text) == read(line)


@given(some.nearly_messages() | some.objects)
@example({"sessionUpdate": "plan", "entries": [{"content": "half of \ud83d", "priority": "low", "status": "pending"}]})
def test_a_parsed_value_is_read_like_its_line(value: Any) -> None:
    assert gist(read(value))[:2] == gist(read(some.escaped(value)))[:2]


# Every route of the reader leads to the same reading


def gist(reading: Reading) -> tuple[bytes, list[Any], list[Any]]:
    """A reading without what depends on the spelling of its line: the JSON text of messages, excerpts in reports."""
    messages = [(message.method, message.id) for message in reading.messages]
    reports = sorted((report.code, report.where, report.rule or "") for report in reading.reports)
    return exactly(reading.updates), messages, reports


@given(some.nearly_messages())
@example({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": None, "id": "p", "entries": []}})
@example(notification({"sessionUpdate": "plan_update", "plan": {"planId": "p", "entries": []}}))
def test_a_line_says_the_same_however_its_json_is_spelled(message: Any) -> None:
    """R34 asks for JSON in UTF-8, not for one spelling of it."""
    expected = gist(read(some.spaced(message)))
    for way in some.WAYS_OF_WRITING:
        assert gist(read(way(message))) == expected
        assert gist(read(b" " + way(message) + b"\r\n")) == expected
        assert gist(read(b"\xef\xbb\xbf" + way(message))) == expected


@every_dialect
@some.a_third_each
@given(data=st.data())
def test_a_line_says_the_same_in_any_order_of_its_keys(dialect: Dialect, data: st.DataObject) -> None:
    message = json.loads(write(data.draw(some.updates_for(dialect)), dialect))
    shuffled = some.reordered(message, data.draw(st.integers(0, 1000)))
    for way in some.WAYS_OF_WRITING:
        assert gist(read(way(shuffled))) == gist(read(some.compact(message)))


# Nothing that arrives raises, and nothing is passed over in silence


def is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode(), parse_constant=lambda word: json.loads("no JSON: " + word))
    except (ValueError, RecursionError):
        return False
    return True


@given(some.any_lines(), st.none() | st.sampled_from(list(DIALECTS.values())))
@example(b"[]", None)
@example(b"\xef\xbb\xbfnull", None)
@example(b'{"method":"x","params":"\xff"}', None)
def test_every_line_is_read_as_something(line: bytes, dialect: Dialect | None) -> None:
    """R34: and if it is no JSON, a report says so."""
    reading = read(line, dialect)
    if line.strip():
        assert reading.updates or reading.messages or reading.reports
        assert reading.reports or is_json(line.removeprefix(b"\xef\xbb\xbf"))


@given(some.nearly_messages())
def test_an_update_that_can_not_be_used_is_reported(message: Any) -> None:
    """R22"""
    reading = read(some.compact(message))
    assert reading.reports or all(update.body is not None for update in reading.updates)


@given(st.lists(st.tuples(some.any_lines(), senders), max_size=8))
@example(
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":[1]}}', None),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', None),
    ]
)
def test_a_board_survives_every_sequence_of_lines(lines: list[tuple[bytes, str | None]]) -> None:
    board = Board()
    for line, sender in lines:
        change = board.apply(line, sender)
        assert_change_is_right(board, change.session, change.plans)
        assert all(report in change.reports for report in read(line).reports)
    change = board.close()
    assert_change_is_right(board, change.session, change.plans)


def assert_change_is_right(board: Board, session: str | None, changes: tuple[Any, ...]) -> None:
    """What a change says about each plan leads from what was there before to what is there after."""
    assert not changes or session is not None
    for change in changes:
        if change.before and change.after:
            assert apply(change.diff, change.before.plan) == change.after.plan


@every_dialect
@some.a_third_each
@given(lines=st.lists(st.tuples(some.any_lines(), senders), max_size=6))
def test_a_translator_survives_every_sequence_of_lines(dialect: Dialect, lines: list[tuple[bytes, str | None]]) -> None:
    """And it sends no plan_update or plan_removed to a client that did not ask for these (R8)."""
    translator = Translator(dialect)
    for line, sender in lines:
        for sent in translator.translate(line, sender):
            assert isinstance(sent, bytes)
            if not dialect.operations:
                assert all(update.tag == "plan" for update in read(sent).updates)


@every_dialect
def test_no_depth_of_nesting_breaks_the_reader_the_board_or_a_translator(dialect: Dialect) -> None:
    for depth in range(1, 1100, 1 if dialect is V1 else 7):
        nested = b"[" * depth + b"1" + b"]" * depth
        translator, board = Translator(dialect), Board()
        for line in (nested, b'{"sessionUpdate":"plan","entries":[' + nested + b"]}"):
            assert read(line, dialect).reports
            board.apply(line)
            translator.translate(line)


@every_dialect
@some.a_third_each
@given(messages=st.lists(some.notifications(some.nearly_updates()) | some.other_messages(), max_size=4), way=ways)
def test_a_batch_is_translated_message_by_message(
    dialect: Dialect, messages: list[Fields], way: Callable[[Any], bytes]
) -> None:
    """R36: whether it begins with a bracket, a space or a byte order mark."""
    one_by_one, in_a_batch = Translator(dialect), Translator(dialect)
    expected = [json.loads(sent) for message in messages for sent in one_by_one.translate(way(message))]
    assert [
        each for sent in in_a_batch.translate(way(messages)) for each in json.loads(sent.decode("utf-8-sig"))
    ] == expected


# Lines that need no translation


@given(
    st.lists(
        some.lines_of(
            some.notifications(
                some.json_object(
                    sessionUpdate=st.just("plan"),
                    entries=some.entry_lists_json(some.clean_entries_json),
                    _meta=some.sometimes(some.objects),
                )
            )
        ),
        max_size=4,
    )
)
def test_v1_plans_reach_a_v1_client_as_the_same_bytes(lines: list[bytes]) -> None:
    """R14: the `plan` update is unchanged and needs no capability."""
    translator = Translator(V1)
    for line in lines:
        assert translator.translate(line) == (line,)


@every_dialect
@some.a_third_each
@given(data=st.data())
def test_a_translator_of_the_dialect_that_is_spoken_changes_no_byte(dialect: Dialect, data: st.DataObject) -> None:
    """R46"""
    translator = Translator(dialect)
    sessions = st.lists(some.updates_for(dialect), max_size=4)
    for line in (write(update, dialect) for update in data.draw(sessions)):
        assert translator.translate(line) == (line,)


@every_dialect
@some.a_third_each
@given(lines=st.lists(st.tuples(some.lines_of(some.other_messages()) | some.any_lines(), senders), max_size=6))
def test_lines_that_are_not_about_plans_leave_as_the_same_bytes(
    dialect: Dialect, lines: list[tuple[bytes, str | None]]
) -> None:
    """R33, R46"""
    translator = Translator(dialect)
    for line, sender in lines:
        if not read(line).updates:
            assert translator.translate(line, sender) == (line,)


# Plans for clients that know less


A_TEXT = {"type": "markdown", "content": "- [ ] a"}
PLAN = notification({"sessionUpdate": "plan", "entries": [{"content": "b", "priority": "low", "status": "pending"}]})
MAIN_PLAN = notification({"sessionUpdate": "plan_update", "plan": {**A_TEXT, "planId": "main"}})
NAMELESS_TEXT = notification({"sessionUpdate": "plan_update", "plan": A_TEXT})
REMOVAL_OF_MAIN = notification({"sessionUpdate": "plan_removed", "planId": "main"})
REMOVAL_WITH_TWO_IDS = notification({"sessionUpdate": "plan_removed", "planId": "main", "id": "q"})
PLAN_WITH_A_FIELD = notification({"sessionUpdate": "plan_update", "plan": {**A_TEXT, "planId": "p", "x": 1}})
STREAMED = notification(
    {
        "sessionUpdate": "plan_update",
        "plan": {"type": "markdown", "planId": "p", "content": ""},
        "_meta": {"jetbrains": {"air": {"contentDelta": " and b"}}},
    }
)


Ids: TypeAlias = dict[str, st.SearchStrategy[Any]]
names = st.sampled_from(("main", "p", "q"))
names_or_numbers = names | st.just(7)


def known_plans(ids: Ids) -> st.SearchStrategy[Fields]:
    """Plan updates of the kinds that the protocol knows, though often not as a v1 client understands them.

    `ids` are the keys that spell the id of a plan, and what stands there.
    """
    meta = some.sometimes(some.nearly(some.objects))
    plans = some.plan_contents_json(ids)
    plans = some.with_fields(plans | plans | plans.map(without_type), *some.PLAN_FIELDS)
    named = some.json_object(sessionUpdate=st.just("plan_update"), plan=plans, _meta=meta)
    baseline = some.json_object(sessionUpdate=st.just("plan"), entries=some.entry_lists_json(), _meta=meta)
    removals = some.json_object(sessionUpdate=st.just("plan_removed"), **ids)
    return st.one_of(named, named, named, baseline, removals, streamed_texts(ids))


def without_type(plan: Fields) -> Fields:
    return {key: value for key, value in plan.items() if key != "type"}


def streamed_texts(ids: Ids) -> st.SearchStrategy[Fields]:
    """Text that extends a plan, in the manner of JetBrains AIR."""
    plan = some.json_object(type=st.just("markdown"), content=st.just(""), **ids)
    return st.builds(
        lambda plan, text: {
            "sessionUpdate": "plan_update",
            "plan": plan,
            "_meta": {"jetbrains": {"air": {"contentDelta": text}}},
        },
        plan,
        some.prose_texts | some.markdown_texts(),
    )


def custom_plans(ids: Ids) -> st.SearchStrategy[Fields]:
    plan = some.json_object(type=st.just("_tree"), nodes=some.json_values, **ids)
    return some.json_object(sessionUpdate=st.just("plan_update"), plan=plan)


#: Against R11, and read as the plan without an id.
nameless_plans = some.json_object(sessionUpdate=st.just("plan_update"), plan=some.plan_contents_json({}))

#: Whatever can be used, with the id in either spelling.
sessions_with_plans = st.lists(
    some.notifications(
        st.one_of(
            known_plans({"planId": names_or_numbers}),
            known_plans({"id": names_or_numbers}),
            custom_plans({"planId": names}),
            nameless_plans,
        )
    ),
    max_size=8,
)


class V1Client:
    """What a client made with the official SDK has seen: the last list of each session, and the messages' texts."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {}
        self.messages: dict[tuple[str, str | None], str] = {}

    def receive(self, line: bytes) -> str | None:
        """Take in a line; the id of the message that it continues, if it is one."""
        params = json.loads(line)["params"]
        notification = SessionNotification.model_validate(params)
        update = notification.update
        if isinstance(update, AgentMessageChunk):
            message = notification.session_id, update.message_id
            self.messages[message] = self.messages.get(message, "") + params["update"]["content"]["text"]
            return update.message_id
        assert isinstance(update, AgentPlanUpdate), "a v1 client is sent nothing but lists and messages"
        assert len(update.entries) == len(params["update"]["entries"]), "the SDK dropped an entry"
        self.lists[notification.session_id] = [entry.content for entry in update.entries]
        return None


@given(sessions_with_plans)
def test_a_v1_client_gets_every_step_and_every_text_of_every_plan(messages: list[Fields]) -> None:
    """R8, R9, R28: what it is sent is v1, and loses nothing."""
    translator, client = Translator(V1), V1Client()
    live: dict[str, dict[str | None, Plan]] = {}
    said: dict[tuple[str, str | None], str | None] = {}
    cleared: dict[str, dict[str | None, Plan]] = {}
    for message in messages:
        session, line = message["params"]["sessionId"], some.compact(message)
        (update,) = read(line).updates
        plans = live.setdefault(session, {})
        plan = follow(plans, update)
        if isinstance(plan, ItemsPlan) and not plan.entries:
            cleared.setdefault(session, {}).update((k, v) for k, v in plans.items() if not isinstance(v, ItemsPlan))
        for sent in (*translator.translate(line), *translator.complete(session)):
            message_id = client.receive(sent)
            if message_id is not None and plan is not None:
                said[session, plan.id] = message_id
        silent = cleared.get(session, {})
        for plan_id in [each for each in silent if plans.get(each) != silent[each]]:
            del silent[plan_id]
        assert_every_step_is_listed({k: v for k, v in plans.items() if k not in silent}, client.lists.get(session, []))
        if isinstance(plan, MarkdownPlan) and plan.content:
            assert_text_was_said(plan.content, client.messages.get((session, said.get((session, plan.id))), ""))


def assert_text_was_said(text: str, said: str) -> None:
    """A proposal is said word for word, behind its name, but for blank lines where something else came in between; of a
    text with steps, the list tells which are done."""
    document = markdown.parse(text)
    if document.tasks and not document.prose:
        return
    name, _, spoken = said.partition("**\n\n")
    assert name.startswith("\n\n**Plan")
    assert without_blank_lines(markdown.unmarked(spoken)) == without_blank_lines(markdown.unmarked(text))


def without_blank_lines(text: str) -> str:
    return re.sub("\n+", "\n", text)


def follow(plans: dict[str | None, Plan], update: Update) -> Plan | None:
    """Keep the plans of a session as an update leaves them; the plan that it set, if it set one."""
    body = update.body
    assert body is not None
    if isinstance(body, Removal):
        plans.pop(body.id, None)
        return None
    if not isinstance(body, Plan):
        before = plans.get(body.id)
        text = before.content if isinstance(before, MarkdownPlan) else ""
        body = MarkdownPlan(body.id, text + body.text)
    plans[body.id] = body
    return body


def assert_every_step_is_listed(plans: dict[str | None, Plan], listed: list[str]) -> None:
    steps = [step.content for plan in plans.values() for step in track(plan).steps]
    assert len(listed) == len(steps)
    assert all(shown.endswith(step) for shown, step in zip(listed, steps, strict=True))


@given(
    st.lists(
        some.notifications(known_plans({"planId": names}) | known_plans({"planId": names, "id": names})), max_size=5
    )
)
@example([notification({"sessionUpdate": "plan_update", "plan": {"planId": "p", "entries": []}})])
def test_a_draft_client_keeps_every_plan_and_every_entry(messages: list[Fields]) -> None:
    """R6, R7, R11, R22: the SDK rejects a plan without a type, and drops entries that v1 does not know."""
    translator = Translator(V1_DRAFT)
    for message in messages:
        line = some.compact(message)
        (update,) = read(line).updates
        sent = [json.loads(each)["params"] for each in translator.translate(line)]
        received = [SessionNotification.model_validate(params).update for params in sent]
        if isinstance(update.body, ItemsPlan):
            expected = [fitted(entry, V1_DRAFT).content for entry in update.body.entries]
            assert [entry.content for entry in entries_of(received[-1])] == expected


def entries_of(update: Any) -> list[PlanEntry]:
    if isinstance(update, AgentPlanContentUpdate):
        assert isinstance(update.plan, PlanUpdateItems)
        return update.plan.entries
    assert isinstance(update, AgentPlanUpdate)
    return update.entries


@dialects_with_ids
@some.a_third_each
@given(messages=sessions_with_plans)
@example(messages=[PLAN, MAIN_PLAN]).via("a plan called `main` takes the name from the plan without an id")
@example(messages=[PLAN, MAIN_PLAN, PLAN]).via("which does not take it back")
@example(messages=[PLAN, REMOVAL_OF_MAIN]).via("a removal of a `main` that never was")
@example(messages=[PLAN, NAMELESS_TEXT, PLAN]).via("the plan without an id becomes a text and a list again")
@example(messages=[MAIN_PLAN, REMOVAL_WITH_TWO_IDS]).via("planId counts, also where the client reads only id")
@example(messages=[PLAN_WITH_A_FIELD, STREAMED]).via("streamed text extends the plan, and its other fields stay")
def test_a_client_that_knows_plans_by_id_gets_every_plan(dialect: Dialect, messages: list[Fields]) -> None:
    """R12, R21, R27: the same plans, in every field, but for values that its dialect does not have."""
    translator, agents, clients = Translator(dialect), Board(), Board()
    for message in messages:
        line = some.compact(message)
        agents.apply(line)
        for sent in translator.translate(line):
            clients.apply(sent)
    for name, session in agents.sessions.items():
        expected = {plan_id: anonymous(state.plan, dialect) for plan_id, state in session.plans.items()}
        received = {plan_id: state.plan for plan_id, state in clients.sessions[name].plans.items()}
        for plan_id in expected.keys() - {None}:
            assert anonymous(received.pop(plan_id), dialect) == expected[plan_id]
        nameless = [anonymous(plan, dialect) for plan in received.values()]
        assert [plan for plan in nameless if plan != CLEARED] == [
            plan for plan_id, plan in expected.items() if plan_id is None and plan != CLEARED
        ]


#: What is left of a `plan` that became something else: v1 can clear it, and not remove it.
CLEARED = ItemsPlan(None, ())


def anonymous(plan: Plan, dialect: Dialect) -> Plan:
    """A plan without its id, as a reader of the dialect would keep it."""
    if not dialect.knows(plan):
        plan = MarkdownPlan(None, text_of(plan))
    if isinstance(plan, ItemsPlan):
        plan = replace(plan, entries=tuple(with_one_meta(fitted(entry, dialect)) for entry in plan.entries))
    return replace(plan, id=None)


def with_one_meta(entry: Entry) -> Entry:
    """A `_meta` that is no object gives way where planwire has to write one."""
    extra = {name: value for name, value in (entry.extra or {}).items() if name != "_meta" or entry.meta is None}
    return replace(entry, extra=extra or None)
