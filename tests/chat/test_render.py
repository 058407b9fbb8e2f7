"""What the model reads of hidden messages. `test_said` has the proof that no content leaves its element."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat import ChatStream, block, chat_format
from planwire.chat.markup import attribute, element, inside
from planwire.model.plan import Fields
from tests.chats import FORMATS, chats, delta, event, plan
from tests.strategies import a_third_each, texts


def test_a_plan_with_entries_shows_its_steps_and_the_authors_of_all_its_texts() -> None:
    steps = [
        {"id": "s1", "content": "Read the config", "status": "completed", "priority": "high"},
        {"id": "s2", "content": "Write the\nparser", "status": "in_progress"},
        {"id": "s3", "content": "Ask", "status": "cancelled"},
        {"id": "s4", "content": "Wait", "status": "blocked", "priority": "low"},
        {"id": "s5", "content": "Ship", "status": "pending"},
    ]
    more: Fields = {"kind": "items", "by": "agent", "authors": {"s3": "ann"}, "summary": "It broke"}
    notes = [{"by": "bob", "text": "slow"}, "of nobody known"]
    assert block(plan("p", "", version=2, revision=17, steps=steps, notes=notes, **more)) == (
        '<plan id="main" version="2" revision="17" by="agent">\n'
        '<step id="s1" status="completed" priority="high">Read the config</step>\n'
        '<step id="s2" status="in_progress">\nWrite the\nparser\n</step>\n'
        '<step id="s3" status="cancelled" by="ann">Ask</step>\n'
        '<step id="s4" status="blocked" priority="low">Wait</step>\n'
        '<step id="s5">Ship</step>\n'
        "<why>It broke</why>\n"
        '<note by="bob">slow</note>\n'
        '<note by="unknown">of nobody known</note>\n'
        "</plan>"
    )


def test_a_markdown_plan_is_shown_as_it_is_with_an_index_of_its_steps() -> None:
    text = "# Parser\n> quoted\n- [x] lexer\n- [ ] " + "grammar " * 12
    steps = [{"id": "s4", "content": "lexer", "status": "completed"}, {"id": "s7", "content": "grammar " * 12}]
    shown = block(plan("p", text, kind="markdown", steps=[{"status": "pending", **each} for each in steps]))
    assert shown == (
        f'<plan id="main" version="1">\n<text>\n{text}\n</text>\n'
        f'<index step="s4" words="lexer"/>\n<index step="s7" words="{"grammar " * 5}grammar…"/>\n</plan>'
    )


def test_a_plan_of_another_program_gets_ids_for_its_steps() -> None:
    shown = block(plan("p", "- [ ] a\n- [ ] b"))
    assert '<index step="s1" words="a"/>\n<index step="s2" words="b"/>\n' in shown
    entries: list[Any] = [{"content": "a", "colour": "red"}, {"content": "b", "status": "completed"}, 3, {"x": 1}]
    shown = block(plan("p", "", entries=entries))
    assert '\n<step id="s1">a</step>\n<step id="s2" status="completed">b</step>\n' in shown


def test_a_plan_that_is_a_file_shows_where_it_is() -> None:
    shown = '<plan id="main" version="1">\n<file>file:///plan.md</file>\n</plan>'
    assert block(plan("p", "file:///plan.md", kind="file")) == shown


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"do": "status", "step": "s2", "status": "completed"}, '<status step="s2">completed</status>'),
        ({"do": "reword", "step": "s2", "content": "Other\nwords"}, '<reword step="s2">\nOther\nwords\n</reword>'),
        ({"do": "priority", "step": "s2", "priority": "high"}, '<priority step="s2">high</priority>'),
        ({"do": "add", "id": "s5", "content": "New"}, '<add id="s5" place="end">New</add>'),
        (
            {"do": "add", "content": "New", "after": "s2", "priority": "high"},
            '<add priority="high" after="s2">New</add>',
        ),
        ({"do": "add", "id": "s5", "content": "New", "after": ""}, '<add id="s5" place="beginning">New</add>'),
        ({"do": "move", "step": "s2", "after": "s4"}, '<move step="s2" after="s4"/>'),
        ({"do": "move", "step": "s2", "after": ""}, '<move step="s2" place="beginning"/>'),
        ({"do": "remove", "step": "s2"}, '<remove step="s2"/>'),
        ({"do": "paint", "step": "s2"}, '<change>{"do":"paint","step":"s2"}</change>'),
    ],
)
def test_a_change_is_an_element_in_an_update(change: Fields, line: str) -> None:
    shown = block(delta("d", "Found <it>", seq=3, revision=9, by="agent", changes=[change]))
    opening = '<plan-update id="main" seq="3" revision="9" by="agent">'
    assert shown == f"{opening}\n{line}\n<note>Found &lt;it></note>\n</plan-update>"


def test_updates_that_are_no_changes_say_what_they_are() -> None:
    assert block(delta("d", removed=True, by="ann")) == (
        '<plan-update id="main" by="ann">\n<dismissed/>\n</plan-update>'
    )


def test_what_people_said_is_an_element_each_with_its_author_target_and_meaning() -> None:
    common: Fields = {"by": "ann", "plan_id": "main"}
    items: list[Fields] = [
        {"said": "verdict", "verdict": "approved", "revision": 7, **common},
        {"said": "comment", "id": "r1", "text": "Too slow", "step": "s1", "in_force": True, **common},
        {"said": "comment", "id": "r2", "text": "Why?", "quote": "the <old> one", "said_before": "perhaps", **common},
        {
            "said": "comment",
            "id": "r8",
            "text": "No",
            "quote": "x",
            "occurrence": "2 of 3",
            "quote_is": "gone",
            **common,
        },
        {"said": "selection", "id": "r3", "steps": ["s1", "s2"], **common},
        {"said": "selection", "id": "r4", "steps": ["s1"], "text": "first", **common},
        {"said": "suggestion", "id": "r5", "text": "x", "changes": [{"do": "remove", "step": "s1"}], **common},
        {"said": "closed", "id": "r0", "how": "withdrawn", **common, "by": "bob"},
        {"said": "plan", "text": "no kind of remark", **common},
    ]
    only = "run only these steps now, and leave the others until you are told"
    asked = "a change to your plan that is asked for, and not made yet"
    assert block(event("e", "remark", items=items, besides=["r6", "r7"])).split("\n") == [
        "<plan-remarks>",
        '<verdict by="ann" plan="main" revision="7">approved</verdict>',
        '<comment id="r1" by="ann" plan="main" step="s1" in-force="yes">Too slow</comment>',
        '<comment id="r2" by="ann" plan="main" said-before="perhaps">',
        '<quote by="plan">the &lt;old> one</quote>',
        "<text>Why?</text>",
        "</comment>",
        '<comment id="r8" by="ann" plan="main">',
        '<quote by="plan" occurrence="2 of 3" is="gone">x</quote>',
        "<text>No</text>",
        "</comment>",
        f'<selection id="r3" by="ann" plan="main" means="{only}">s1 s2</selection>',
        f'<selection id="r4" by="ann" plan="main" means="{only}">',
        "<text>first</text>",
        "<steps>s1</steps>",
        "</selection>",
        f'<suggestion id="r5" by="ann" plan="main" means="{asked}">',
        "<text>x</text>",
        '<remove step="s1"/>',
        "</suggestion>",
        '<closed id="r0" by="bob" plan="main" how="withdrawn" means="it holds no longer"/>',
        '<remark by="ann" plan="main">no kind of remark</remark>',
        '<also-open means="get_plan has them in full">r6 r7</also-open>',
        "</plan-remarks>",
    ]


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


def test_characters_that_mean_something_to_a_terminal_are_named() -> None:
    assert inside("\x1b[2J\x9b\ud800") == '<char code="27"/>[2J<char code="155"/><char code="55296"/>'
    assert attribute("a\nb\x1b'\"<>&\x00\x7f\x9b\ud800") == "a&#10;b␛&apos;&quot;&lt;&gt;&amp;␀␡��"


def test_line_breaks_of_every_kind_stay_inside_of_an_attribute() -> None:
    assert attribute("a\x0bb\x85c\u2028d\u2029e\x1cf").splitlines() == ["a␋b&#133;c&#8232;d&#8233;e␜f"]


def test_a_text_of_several_lines_stands_on_lines_of_its_own() -> None:
    assert element("note", "a\nb", by="ann") == '<note by="ann">\na\nb\n</note>'
    assert element("note", "a\r\nb") == "<note>\na&#13;\nb\n</note>"
    assert element("note", "a\u2028b") == "<note>a\u2028b</note>"


def test_quotes_and_arrows_of_markdown_stay_readable() -> None:
    assert inside("> quoted -> 'so' \"so\"") == "> quoted -> 'so' \"so\""


# What holds whatever the content


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
