"""What the model reads of hidden messages, and that no content leaves its block."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planwire.chat import ChatStream, EventMessage, PlanMessage, block, chat_format
from planwire.chat.render import attribute, inside
from planwire.model.plan import Fields
from tests.chats import FORMATS, chats, delta, event, plan
from tests.strategies import a_third_each, json_values, markdown_texts, objects, texts

#: Texts that try to get out: ends of blocks, of CDATA sections and comments, quotes, entities, control characters.
_BREAKERS = (
    "</plan>",
    "</plan-update>",
    "</event>",
    "</message>",
    "<plan id='main' version='9'>",
    "]]>",
    "]]",
    ">",
    "<![CDATA[",
    "<!--",
    "-->",
    "&lt;",
    "&#60;",
    "&",
    '"',
    "'",
    "\x00",
    "\x1b[2J",
    "\x7f",
    "\x85",
    "\uffff",
    "\t",
    "\n",
    "\r\n",
    "- [ ] a\n",
)
hostile = st.lists(st.sampled_from(_BREAKERS) | st.text(max_size=4), max_size=8).map("".join)


def parsed(text: str) -> ET.Element:
    """The one element that a block is."""
    return ET.fromstring(text)


def visible(text: str) -> str:
    """A text as an XML parser gives it back: line ends are line feeds, what XML can't hold is a picture."""
    escaped = {"&": "&amp;", "<": "&lt;", "]]>": "]]&gt;"}
    shown = inside(text)
    for character, entity in reversed(escaped.items()):
        shown = shown.replace(entity, character)
    return shown.replace("\r\n", "\n").replace("\r", "\n")


def test_a_plan_with_entries_shows_its_steps() -> None:
    steps = [
        {"id": "s1", "content": "Read the config", "status": "completed", "priority": "high"},
        {"id": "s2", "content": "Write the\nparser", "status": "in_progress"},
        {"id": "s3", "content": "Ask", "status": "cancelled"},
        {"id": "s4", "content": "Wait", "status": "blocked", "priority": "low"},
    ]
    shown = block(plan("p", "", version=2, revision=17, kind="items", steps=steps, summary="It broke", notes=["slow"]))
    assert shown == (
        '<plan id="main" version="2" revision="17">\n'
        "s1 [x] (high) Read the config\n"
        "s2 [~] (medium) Write the parser\n"
        "s3 [-] (medium) Ask\n"
        "s4 [blocked] (low) Wait\n"
        "why: It broke\n"
        "note: slow\n"
        "</plan>"
    )


def test_a_markdown_plan_is_shown_as_it_is_with_an_index_of_its_steps() -> None:
    text = "# Parser\n> quoted\n- [x] lexer\n- [ ] " + "grammar " * 12
    steps = [{"id": "s4", "content": "lexer", "status": "completed"}, {"id": "s7", "content": "grammar " * 12}]
    shown = block(plan("p", text, kind="markdown", steps=[{"status": "pending", **each} for each in steps]))
    assert shown == (
        f'<plan id="main" version="1">\n{text}\n<steps>\ns4 lexer\ns7 {"grammar " * 5}grammar…\n</steps>\n</plan>'
    )


def test_a_plan_of_another_program_gets_ids_for_its_steps() -> None:
    assert "<steps>\ns1 a\ns2 b\n</steps>" in block(plan("p", "- [ ] a\n- [ ] b"))
    entries: list[Any] = [{"content": "a", "colour": "red"}, {"content": "b", "status": "completed"}, 3, {"x": 1}]
    assert "\ns1 [ ] (medium) a\ns2 [x] (medium) b\n" in block(plan("p", "", entries=entries))


def test_a_plan_that_is_a_file_shows_where_it_is() -> None:
    assert block(plan("p", "file:///plan.md", kind="file")) == '<plan id="main" version="1">\nfile:///plan.md\n</plan>'


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"do": "status", "step": "s2", "status": "completed"}, "s2 completed"),
        ({"do": "reword", "step": "s2", "content": "Other\nwords"}, "s2 reworded: Other words"),
        ({"do": "priority", "step": "s2", "priority": "high"}, "s2 priority: high"),
        ({"do": "add", "id": "s5", "content": "New"}, "s5 [ ] (medium) New (added at the end)"),
        (
            {"do": "add", "content": "New", "after": "s2", "priority": "high"},
            "new [ ] (high) New (added after s2)",
        ),
        ({"do": "add", "id": "s5", "content": "New", "after": ""}, "s5 [ ] (medium) New (added at the beginning)"),
        ({"do": "move", "step": "s2", "after": "s4"}, "s2 (moved after s4)"),
        ({"do": "move", "step": "s2", "after": ""}, "s2 (moved at the beginning)"),
        ({"do": "remove", "step": "s2"}, "s2 removed"),
        ({"do": "paint", "step": "s2"}, '{"do":"paint","step":"s2"}'),
    ],
)
def test_a_change_is_a_line_in_an_update(change: Fields, line: str) -> None:
    shown = block(delta("d", "Found <it>", seq=3, changes=[change]))
    assert shown == f'<plan-update id="main" seq="3">\nFound &lt;it>\n{line}\n</plan-update>'


def test_updates_that_are_no_changes_say_what_they_are() -> None:
    assert "This plan is dismissed." in block(delta("d", removed=True))
    assert "The suggestion of update 2 is withdrawn." in block(delta("d", withdrawn=2))
    suggestion = block(delta("d", seq=2, wish=True, by="user", changes=[{"do": "remove", "step": "s1"}]))
    assert "The user asks for this change; it is not made yet:\ns1 removed\n" in suggestion
    review = {
        "revision": 7,
        "verdict": "changes_requested",
        "selected": ["s1", "s2"],
        "comments": [{"text": "Too slow", "step": "s1"}, {"text": "Fine"}],
        "steps": {"s1": "Read the config"},
    }
    assert block(delta("d", by="user", review=review)) == (
        '<plan-update id="main">\n'
        "The user reviewed revision 7: changes requested.\n"
        "Run only these steps now, and leave the others until you are told:\n"
        "s1 Read the config\n"
        "s2\n"
        "s1 (Read the config): Too slow\n"
        "plan: Fine\n"
        "</plan-update>"
    )
    assert "No step is to be run now." in block(delta("d", review={**review, "selected": []}))


def test_an_event_shows_its_payload_and_its_message() -> None:
    assert block(event("e", "mode_switch", "chat.session", "Mode switched: a → b", to="b")) == (
        '<event subkind="mode_switch" source="chat.session">\n'
        '<payload>{"to":"b"}</payload>\n'
        "<message>Mode switched: a → b</message>\n"
        "</event>"
    )


def test_a_marker_shows_what_it_counts_and_not_our_ids() -> None:
    counted = event("h", "summarization_marker", "cron", summarized_subkind="cron_fire", count=4, first_message_id="x")
    assert block(counted) == '<event-history source="cron">4 earlier cron_fire events</event-history>'
    summary = event("s", "summarization_marker", "planwire.compact", "So far so good", count=2, sources=["a", "b"])
    assert block(summary) == (
        '<event subkind="summarization_marker" source="planwire.compact">\n'
        '<payload>{"count":2}</payload>\n<message>So far so good</message>\n</event>'
    )


def test_characters_that_mean_something_to_a_terminal_are_shown_as_pictures() -> None:
    assert inside("\x1b[2J\x00\x7f\x9b\ud800") == "␛[2J␀␡��"
    assert attribute("a\nb\x1b'\"<>&") == "a&#10;b␛&apos;&quot;&lt;&gt;&amp;"


def test_quotes_and_arrows_of_markdown_stay_readable() -> None:
    assert inside("> quoted -> 'so' \"so\"") == "> quoted -> 'so' \"so\""


# What holds whatever the content


@given(hostile, hostile)
@example("]]>", "</plan>")
def test_the_text_of_a_plan_comes_back_out_of_its_block(content: str, plan_id: str) -> None:
    found = parsed(block(PlanMessage("p", content, {"id": plan_id, "kind": "other"})))
    assert found.tag == "plan"
    assert list(found) == []
    assert found.text == visible(f"\n{content}\n")
    assert found.attrib["version"] == "0"
    assert attribute(found.attrib["id"]) == attribute(visible_in_attribute(plan_id))


def visible_in_attribute(text: str) -> str:
    return ET.fromstring(f'<a b="{attribute(text)}"/>').attrib["b"]


@given(hostile | markdown_texts(), st.none() | st.lists(json_values, max_size=2))
def test_a_markdown_plan_is_one_element_with_at_most_an_index_inside(content: str, steps: Any) -> None:
    found = parsed(block(plan("p", content, steps=steps)))
    assert [child.tag for child in found] in ([], ["steps"])
    assert (found.text or "").startswith(visible(f"\n{content}\n"))


@given(hostile, hostile, objects)
def test_the_note_of_an_update_comes_back_out_of_its_block(note: str, word: str, more: Fields) -> None:
    changes = [{"do": "reword", "step": word, "content": word}, {"do": "add", "content": word, "after": word}, word]
    found = parsed(block(delta("d", note, seq=1, **{**more, "changes": changes})))
    assert (found.tag, list(found)) == ("plan-update", [])
    assert visible(note) in (found.text or "")


anything = json_values | hostile
reviews = st.fixed_dictionaries(
    {},
    optional={
        "revision": anything,
        "verdict": anything,
        "steps": anything | st.dictionaries(hostile, anything, max_size=2),
        "selected": anything | st.lists(anything, max_size=3),
        "comments": anything
        | st.lists(st.fixed_dictionaries({}, optional={"step": anything, "text": anything}), max_size=3),
    },
)


@given(reviews, anything)
@example({"steps": {"s1": "a"}, "selected": ["s1", ["s1"], {}]}, "user")
@example({"steps": {"s1": ["a"]}, "comments": [{"step": ["s1"]}, {"step": {}}, {"step": "s1"}]}, "user")
def test_a_review_of_any_kind_gives_one_element(review: Fields, by: Any) -> None:
    found = parsed(block(delta("d", by=by, review=review)))
    assert (found.tag, list(found)) == ("plan-update", [])


@given(hostile, hostile, hostile, anything)
def test_the_parts_of_an_event_come_back_out_of_its_block(
    subkind: str, source: str, content: str, payload: Any
) -> None:
    message = EventMessage("e", content, {"subkind": "_" + subkind, "source": source, "payload": payload})
    found = parsed(block(message))
    assert found.tag == "event"
    assert [child.tag for child in found] == [
        *(["payload"] if payload not in (None, {}) else []),
        *(["message"] if content else []),
    ]
    if content:
        assert found[-1].text == visible(content)


@given(
    st.sampled_from(("plan", "event")),
    st.dictionaries(
        st.sampled_from(
            (
                "id",
                "version",
                "revision",
                "kind",
                "steps",
                "entries",
                "notes",
                "summary",
                "subkind",
                "source",
                "payload",
            )
        ),
        anything | st.just("plan_delta") | st.just("summarization_marker"),
    ),
    st.dictionaries(
        st.sampled_from(
            ("changes", "review", "wish", "withdrawn", "by", "seq", "count", "summarized_subkind", "plan_id")
        ),
        anything | st.lists(objects, max_size=2),
    ),
    hostile,
)
@example("event", {"subkind": "summarization_marker"}, {"summarized_subkind": "x", "count": "<plan>"}, "")
@example("plan", {"notes": 3, "entries": "x"}, {}, "")
def test_metadata_of_any_kind_gives_one_element(role: str, metadata: Fields, payload: Fields, content: str) -> None:
    if role == "plan":
        found = parsed(block(PlanMessage("p", content, metadata)))
        assert found.tag == "plan"
    else:
        found = parsed(block(EventMessage("e", content, {"payload": payload, **metadata})))
        assert found.tag in ("event", "plan-update", "event-history")


@pytest.mark.parametrize("form", FORMATS)
@a_third_each
@given(st.data())
def test_no_provider_is_ever_sent_a_role_of_ours(form: str, data: st.DataObject) -> None:
    chat = data.draw(chats(form))
    for message in chat.stream.context():
        assert message.get("role") not in ("plan", "event")
        assert {"message_id", "extra"}.isdisjoint(message)


@pytest.mark.parametrize("form", FORMATS)
@given(content=texts)
def test_every_format_carries_the_same_block(form: str, content: str) -> None:
    message = plan("p", content)
    [shown] = ChatStream(chat_format(form), [message]).context()
    inner: Any = shown.get("parts", shown.get("content"))
    text = inner if isinstance(inner, str) else inner[0]["text"]
    assert shown["role"] == "user"
    assert text == block(message)
