"""Messages as they are stored: their shapes, whole streams as JSON, and what is refused."""

import enum
import json
from collections import OrderedDict
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire import BlockingPlanSession
from planwire.chat import (
    EventMessage,
    Ordinary,
    PlanMessage,
    Stored,
    block,
    read_message,
    read_stream,
    write_message,
    write_stream,
)
from planwire.chat.roles import (
    DROP_ON_AGE,
    FROM_STATE,
    KEEP_RECENT_N,
    NEVER,
    PRESERVE_ANCHOR,
    PRESERVE_WINDOW,
    SUBKINDS,
    class_of,
)
from planwire.errors import BadMessage, BadStream
from planwire.model.plan import Fields
from tests.chats import FORMATS, Chat, chats
from tests.strategies import a_third_each, json_values, objects

PLAN = {"id": "main", "mode": "agent", "version": 2, "created_at_ms": 1_700_000_000_000, "supersedes": "m1"}


def event(subkind: str) -> Fields:
    return {"subkind": subkind, "source": "tool.sleep", "payload": {"elapsed_ms": 5}}


def test_a_plan_is_stored_with_its_metadata_in_extra() -> None:
    stored = {"message_id": "m2", "role": "plan", "content": "- [ ] a", "extra": {"plan": PLAN}}
    message = read_message(stored)
    assert isinstance(message, PlanMessage)
    assert (message.plan_id, message.version, message.content) == ("main", 2, "- [ ] a")
    assert write_message(message) == stored


@pytest.mark.parametrize("subkind", SUBKINDS)
def test_an_event_of_every_subkind_is_stored_with_its_metadata_in_extra(subkind: str) -> None:
    stored = {"message_id": "m3", "role": "event", "content": "tick", "extra": {"event": event(subkind)}}
    message = read_message(stored)
    assert isinstance(message, EventMessage)
    assert (message.subkind, message.source, message.payload) == (subkind, "tool.sleep", {"elapsed_ms": 5})
    assert write_message(message) == stored


def test_there_are_fourteen_subkinds_and_each_has_its_class() -> None:
    assert {
        "mode_switch": DROP_ON_AGE,
        "tool_decision": PRESERVE_WINDOW,
        "ide_callback": PRESERVE_WINDOW,
        "process_completed": KEEP_RECENT_N,
        "cron_fire": KEEP_RECENT_N,
        "tick": DROP_ON_AGE,
        "summarization_marker": PRESERVE_ANCHOR,
        "verifier_report": PRESERVE_WINDOW,
        "cancellation_note": PRESERVE_ANCHOR,
        "system_notice": PRESERVE_ANCHOR,
        "plan_delta": NEVER,
        "goal_delta": NEVER,
        "goal_pursuit": PRESERVE_ANCHOR,
        "remark": FROM_STATE,
    } == SUBKINDS


def test_the_class_goes_by_the_role_and_then_by_the_subkind() -> None:
    assert class_of(PlanMessage("m", "", {})) == NEVER
    assert class_of(EventMessage("m", "", {"subkind": "tick"})) == DROP_ON_AGE
    assert class_of(EventMessage("m", "", {"subkind": "of_tomorrow"})) == PRESERVE_ANCHOR
    assert class_of(EventMessage("m", "", {})) == PRESERVE_ANCHOR
    assert class_of(Ordinary("m", {"role": "user", "event": event("tick")})) == PRESERVE_ANCHOR
    assert class_of(Ordinary("m", {"role": "goal", "content": "Ship it"})) == NEVER


@pytest.mark.parametrize(("role", "metadata"), [("plan", PLAN), ("event", event("tick"))])
def test_a_flat_message_is_written_as_it_was_read(role: str, metadata: Fields) -> None:
    flat = {"message_id": "m", "role": role, "content": "", role: metadata, "planwire": {"pinned": True}, "new": [1]}
    message = read_message(flat)
    assert isinstance(message, PlanMessage | EventMessage)
    assert (message.flat, message.extra, message.other) == (True, {"planwire": {"pinned": True}}, {"new": [1]})
    assert write_message(message) == flat


def test_what_extra_says_goes_before_what_the_top_level_says() -> None:
    both = {"message_id": "m", "role": "plan", "plan": {"version": 1, "mode": "x"}, "extra": {"plan": {"version": 2}}}
    message = read_message(both)
    assert isinstance(message, PlanMessage)
    assert message.plan == {"version": 2}
    assert write_message(message) == {**both, "content": ""}


#: The fields of a message that Refact knows; in its JSON each other one is a field of its map `extra`.
OF_REFACT = {
    *(
        "message_id",
        "role",
        "content",
        "finish_reason",
        "reasoning_content",
        "tool_calls",
        "tool_call_id",
        "tool_failed",
    ),
    *("usage", "checkpoints", "thinking_blocks", "citations", "preserve", "summarized_range", "output_filter"),
}


def by_refact(message: Fields) -> tuple[Any, Any]:
    """The version and the subkind that Refact finds in the JSON of a message."""
    extra = {key: value for key, value in message.items() if key not in OF_REFACT}
    return extra.get("plan", {}).get("version"), extra.get("event", {}).get("subkind")


def stored(metadata: st.SearchStrategy[Fields]) -> st.SearchStrategy[Fields]:
    """A hidden message in either form, with fields that nobody knows."""
    names = st.text(min_size=1).filter(lambda name: name not in ("message_id", "role", "content", "extra", "planwire"))
    more = st.dictionaries(names, json_values, max_size=2)

    def put(role: str, found: Fields, beside: Fields, inside: Fields, own: bool, flat: bool) -> Fields:
        extra = {key: each for key, each in inside.items() if key != role}
        fields = {"role": role, "content": "x", **{key: each for key, each in beside.items() if key != role}}
        if flat:
            fields |= {role: found, **({"planwire": {"pinned": True}} if own else {})}
            return {**fields, "extra": extra} if extra else fields
        return {**fields, "extra": {**extra, role: found}}

    roles = st.sampled_from(["plan", "event"])
    return st.builds(put, roles, metadata, more, more, st.booleans(), st.booleans())


@given(
    st.lists(
        stored(st.fixed_dictionaries({"version": st.integers(), "subkind": st.text()}, optional={"x": json_values}))
    )
)
def test_a_chat_in_either_form_is_written_as_it_was_read(messages: list[Fields]) -> None:
    named = [{"message_id": f"n{number}", **each} for number, each in enumerate(messages)]
    read = read_stream(json.dumps(named))
    written = write_stream(read)
    assert json.loads(written) == named
    assert read_stream(written) == read


def test_refact_finds_the_version_and_the_subkind_of_whatever_is_added_to_its_chat() -> None:
    flat = {"message_id": "p", "role": "plan", "content": "- [ ] a", "plan": {"version": 1, "mode": "agent"}}
    with BlockingPlanSession.open("memory:", "s") as plans:
        plans.add(flat)
        plans.call("update_plan", {"note": "why"})
        plans.event("tick")
        first, *rest = json.loads(plans.export())
    assert first == flat
    assert [by_refact(each) for each in rest] == [(None, "plan_delta"), (None, "tick")]


@pytest.mark.parametrize("event", ["late", 7, ["x"]])
def test_one_event_in_a_form_of_its_own_does_not_refuse_the_whole_chat(event: Any) -> None:
    odd = {"message_id": "o", "role": "event", "content": "hm", "extra": {"event": event}}
    stream = read_stream(json.dumps([odd, {"role": "user", "content": "Hi"}]))
    assert [type(each) for each in stream] == [Ordinary, Ordinary]
    assert json.loads(write_stream(stream))[0] == odd
    assert block(stream[0]) == '<event subkind="message" source="event">\n<message>hm</message>\n</event>'


def test_fields_that_nobody_knows_are_kept() -> None:
    stored = {
        "message_id": "m",
        "role": "plan",
        "content": "",
        "preserve": True,
        "event": {"not": "ours"},
        "extra": {"mine": [1, {"a": None}], "plan": {**PLAN, "colour": "red"}},
    }
    assert write_message(read_message(stored)) == stored


def test_an_ordinary_message_is_kept_as_it_was_given() -> None:
    given = {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": None, "plan": 1}
    message = read_message({"message_id": "m", **given, "extra": {"seen": True}})
    assert message == Ordinary("m", given, {"seen": True})
    assert write_message(message) == {"message_id": "m", **given, "extra": {"seen": True}}


def test_what_becomes_of_the_original_later_changes_nothing() -> None:
    given: Any = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    message = read_message(given, "m")
    given["content"][0]["text"] = "changed"
    assert "changed" not in str(message)


def test_missing_metadata_has_defaults() -> None:
    plan = read_message({"message_id": "m", "role": "plan"})
    happened = read_message({"message_id": "m", "role": "event", "extra": {"event": {"payload": [1]}}})
    assert isinstance(plan, PlanMessage)
    assert isinstance(happened, EventMessage)
    assert (plan.plan_id, plan.version) == ("main", 0)
    assert (happened.subkind, happened.source, happened.payload) == ("", "unknown", {})
    assert write_message(happened)["extra"] == {"event": {"payload": [1]}}


# What is not JSON yet


class Role(enum.StrEnum):
    USER = "user"


class Number(enum.IntEnum):
    THREE = 3


def test_values_that_stand_for_json_become_json() -> None:
    given = {"role": Role.USER, "content": ("a", OrderedDict(n=Number.THREE)), "more": MappingProxyType({"x": 1.5})}
    message = read_message(given, "m")
    assert message == Ordinary("m", {"role": "user", "content": ["a", {"n": 3}], "more": {"x": 1.5}})
    assert isinstance(message, Ordinary)
    assert type(message.message["role"]) is str
    assert write_stream([message])


def test_objects_of_the_providers_packages_become_what_they_stand_for() -> None:
    from anthropic.types import TextBlock, ToolUseBlock
    from google.genai import types

    blocks = [TextBlock(type="text", text="Hi"), ToolUseBlock(type="tool_use", id="c", name="read", input={"a": 1})]
    assert read_message({"role": "assistant", "content": blocks}, "m") == Ordinary(
        "m",
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "tool_use", "id": "c", "name": "read", "input": {"a": 1}},
            ],
        },
    )
    call = types.Part(function_call=types.FunctionCall(name="read", args={}), thought_signature=b"\xff\x00")
    content = types.Content(role="model", parts=[call])
    message = read_message(content, "m")
    assert isinstance(message, Ordinary)
    assert types.Content.model_validate(message.message) == content


# What is refused


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "a message must be a JSON object, but this is a list"),
        ("x", "a message must be a JSON object, but this is text"),
        ({"role": "user"}, "`message_id` must be a non-empty text, but is missing"),
        ({"message_id": "", "role": "user"}, "`message_id` must be a non-empty text, but is empty"),
        ({"message_id": 3, "role": "user"}, "`message_id` must be a non-empty text, but is a number"),
        ({"message_id": "m", "extra": 1}, "`extra` must be an object, but is a number"),
        ({"message_id": "m", "role": "plan", "extra": [1]}, "`extra` must be an object, but is a list"),
        ({"message_id": "m", "role": "plan", "content": []}, "the `content` of a message with the role `plan` must be"),
        ({"message_id": "m", "a": {1: 2}}, "the keys of a JSON object must be text, and 1 is not"),
        ({"message_id": "m", "a": {1, 2}}, "JSON has no form for set"),
        ({"message_id": "m", "a": float("nan")}, "JSON has no number nan"),
        ({"message_id": "m", "a": "\ud83d"}, "a text has half of a surrogate pair at 0"),
        ({"message_id": "m", "\ud83d": 1}, "a text has half of a surrogate pair at 0"),
    ],
)
def test_what_can_not_be_stored_is_refused_with_the_reason(value: Any, complaint: str) -> None:
    with pytest.raises(BadMessage, match="^" + complaint.replace("(", r"\(")):
        read_message(value)


def test_a_message_without_an_end_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BadMessage, match="nested too deeply"):
        read_message({"role": "user", "content": endless}, "m")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "a stream must be a JSON list of messages, but this is not JSON"),
        (b"[{", "a stream must be a JSON list of messages, but this is not JSON"),
        (b"\xff\xfe", "a stream must be a JSON list of messages, but this is not JSON"),
        ("\ud83d", "a stream must be a JSON list of messages, but this is not JSON"),
        (b"[" * 100_000, "a stream must be a JSON list of messages, but this is not JSON"),
        (
            b"{}",
            "a stream must be a JSON list of messages, or an object with such a list as `messages`, but this is an ",
        ),
        (b'{"messages": {}}', "a stream must be a JSON list of messages, or an object with such a list as `messages`"),
        (
            b'[{"role":"user"}, 3]',
            r"message 1 \(counted from 0\): a message must be a JSON object, but this is a number",
        ),
        (b'[{"message_id": ["m"]}]', r"message 0 \(counted from 0\): `message_id` must be a non-empty text"),
        (
            b'[{"message_id": "m"}, {"message_id": "m"}]',
            r"message 1 \(counted from 0\): the `message_id` 'm' is taken already",
        ),
    ],
)
def test_a_file_that_is_no_stream_is_refused_with_the_reason(data: bytes | str, complaint: str) -> None:
    with pytest.raises(BadStream, match="^" + complaint):
        read_stream(data)


# Whole streams


def test_a_stream_is_a_json_list_with_one_message_a_line() -> None:
    messages: list[Stored] = [Ordinary("m1", {"role": "user", "content": "Grüße"}), PlanMessage("m2", "- [ ] a", PLAN)]
    data = write_stream(messages)
    assert [each["message_id"] for each in json.loads(data)] == ["m1", "m2"]
    assert len(data.splitlines()) == 4
    assert read_stream(data) == read_stream(data.decode()) == messages
    assert read_stream(write_stream([])) == []


def test_messages_without_an_id_get_one_that_nobody_has() -> None:
    data = json.dumps([{"role": "user"}, {"role": "user", "message_id": "m1"}, {"role": "user"}])
    assert [message.id for message in read_stream(data)] == ["m1'", "m1", "m3"]


@pytest.mark.parametrize("form", FORMATS)
@a_third_each
@given(st.data())
def test_any_stream_can_be_exported_and_imported(form: str, data: st.DataObject) -> None:
    chat: Chat = data.draw(chats(form))
    exported = write_stream(chat.stream.messages)
    assert read_stream(exported) == chat.stream.messages
    assert write_stream(read_stream(exported)) == exported


@given(objects, st.sampled_from(("plan", "event", "user", None)))
def test_reading_a_message_either_keeps_all_of_it_or_says_why_not(fields: Fields, role: str | None) -> None:
    stored = {**fields, "message_id": "m", **({"role": role} if role else {})}
    with suppress(BadMessage):
        message = read_message(stored)
        written = write_message(message)
        assert read_message(written) == message
        assert set(stored) - {"extra", "plan", "event"} <= set(written)


@given(st.lists(json_values, max_size=4))
def test_reading_a_stream_never_fails_in_another_way(values: list[Any]) -> None:
    with suppress(BadStream):
        assert len(read_stream(json.dumps(values))) == len(values)
