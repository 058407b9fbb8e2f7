"""Reading the wire: every dialect at once, leniently, with reports."""

import json
from typing import Any

import pytest

from planwire import V1, V1_DRAFT, V2, Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Reading, read
from planwire.acp import Extension, Removal, Update
from planwire.acp.read import MAX_LINE_BYTES
from planwire.acp.salvage import MAX_ENTRIES, MAX_NESTING, MAX_REPORTS
from planwire.model.plan import EXTRA
from tests.wire import entry, items, line, plan, removed, streamed, text


def only_update(reading: Reading) -> Update:
    [update] = reading.updates
    return update


def codes(reading: Reading) -> list[tuple[str, str]]:
    return [(report.code, report.where) for report in reading.reports]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_the_v1_plan_has_no_id() -> None:
    """R14: the baseline update needs no capability."""
    update = only_update(read(plan(entry("a"), entry("b", "completed", "high"))))
    assert update.session == "s1"
    assert update.body == ItemsPlan(None, (Entry("a", "medium", "pending"), Entry("b", "high", "completed")))


@pytest.mark.parametrize("key", ["planId", "id"])
def test_both_spellings_of_the_id_are_read(key: str) -> None:
    """R11, in the spellings of both texts of the proposal."""
    update = only_update(read(items("p1", entry("a"), key=key)))
    assert update.body == ItemsPlan("p1", (Entry("a", "medium", "pending"),))
    assert update.id_keys == (key,)
    assert only_update(read(removed("p1", key))).body == Removal("p1")


def test_plan_id_wins_a_clash_of_spellings() -> None:
    reading = read(items("p1", entry("a"), id="p2"))
    assert only_update(reading).body == ItemsPlan("p1", (Entry("a", "medium", "pending"),), extra={"id": "p2"})
    assert codes(reading) == [("two-plan-ids", "params.update.plan.id")]


def test_both_spellings_with_one_value_are_no_clash() -> None:
    reading = read(items("p1", entry("a"), id="p1"))
    assert only_update(reading).id_keys == ("planId", "id")
    assert reading.reports == ()


def test_markdown_and_file_plans_are_read() -> None:
    assert only_update(read(text("p", "# Plan"))).body == MarkdownPlan("p", "# Plan")
    file = line({"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "file:///p.md"}})
    assert only_update(read(file)).body == FilePlan("p", "file:///p.md")


def test_unknown_kinds_are_kept_whole() -> None:
    """R23."""
    tree = {"type": "_tree", "planId": "p", "nodes": [{"id": 1}], "_meta": {"a": None}}
    reading = read(line({"sessionUpdate": "plan_update", "plan": tree}))
    assert only_update(reading).body == OtherPlan("p", "_tree", {"nodes": [{"id": 1}], "_meta": {"a": None}})
    assert reading.reports == ()


def test_open_values_are_kept_and_fine_in_v2() -> None:
    """R19, R21."""
    sent = items("p", entry("a", "_blocked", "_urgent"), entry("b", "cancelled"))
    assert read(sent, V2).reports == ()
    assert [each.status for each in only_update(read(sent)).body.entries] == ["_blocked", "cancelled"]  # type: ignore[union-attr]


def test_words_that_are_neither_known_nor_custom_are_reported_in_v2() -> None:
    """R19: custom values start with an underscore."""
    reading = read(items("p", entry("a", "blocked", "urgent")), V2)
    assert [(report.code, report.rule) for report in reading.reports] == [
        ("unknown-status", "R19"),
        ("unknown-priority", "R19"),
    ]


def test_values_outside_the_closed_sets_are_kept_and_reported_in_v1() -> None:
    """R7: other readers drop the entry."""
    reading = read(plan(entry("a"), entry("b", "cancelled", "urgent")), V1)
    assert codes(reading) == [
        ("unknown-status", "params.update.entries[1].status"),
        ("unknown-priority", "params.update.entries[1].priority"),
    ]
    assert len(only_update(reading).body.entries) == 2  # type: ignore[union-attr]


def test_a_report_on_a_bare_update_says_where_in_it() -> None:
    bare = {"sessionUpdate": "plan", "entries": [entry("a", "blocked"), "b"]}
    assert codes(read(bare, V1)) == [("entry-not-an-object", "entries[1]"), ("unknown-status", "entries[0].status")]
    plan_update = {"sessionUpdate": "plan_update", "plan": {**bare, "type": "items", "planId": "p"}}
    assert ("unknown-status", "plan.entries[0].status") in codes(read(plan_update, V2))


def test_a_v1_plan_on_a_v2_connection_is_read_and_reported() -> None:
    """R29."""
    assert [report.rule for report in read(plan(entry("a")), V2).reports] == ["R29"]


def test_meta_and_siblings_are_kept_at_every_level() -> None:
    """R21: on the message, the params, the update, the plan and the entry."""
    message = json.loads(
        line(
            {
                "sessionUpdate": "plan_update",
                "plan": {
                    "type": "items",
                    "planId": "p",
                    "entries": [entry("a", _meta={"e": 1}, effort=3)],
                    "_meta": {"p": 1},
                    "title": "T",
                },
                "_meta": {"u": 1},
                "when": "now",
            },
            _meta={"q": 1},
            more=[],
        )
    )
    update = only_update(read({**message, "timestamp": 7}))
    assert update.body == ItemsPlan(
        "p", (Entry("a", "medium", "pending", {"e": 1}, {"effort": 3}),), {"p": 1}, {"title": "T"}
    )
    assert update.envelope.update == {"_meta": {"u": 1}, "when": "now"}
    assert update.envelope.params == {"_meta": {"q": 1}, "more": []}
    assert update.envelope.message == {"timestamp": 7}


def test_an_entry_may_have_a_field_called_extra() -> None:
    assert only_update(read(plan(entry("a", extra={"b": 1})))).body == ItemsPlan(
        None, (Entry("a", "medium", "pending", None, {"extra": {"b": 1}}),)
    )


def test_a_bare_update_is_read_as_specifications_print_it() -> None:
    update = only_update(read({"sessionUpdate": "plan", "entries": [entry("a")]}))
    assert update.session is None
    assert update.envelope.bare


def test_streamed_text_extends_a_plan() -> None:
    """JetBrains AIR: an empty content with the new text in `_meta`."""
    update = only_update(read(streamed("p", "more")))
    assert update.body == Extension("p", "more")
    assert update.envelope.update == {"_meta": {"jetbrains": {"air": {"version": 1}}}}


def test_an_empty_text_without_streamed_text_is_an_empty_text() -> None:
    assert only_update(read(text("p", "", _meta={"jetbrains": {"air": {"contentDelta": 5}}}))).body == MarkdownPlan(
        "p", ""
    )


@pytest.mark.parametrize(
    ("bad", "kept", "code"),
    [
        ("just text", Entry("just text", None, "pending"), "entry-not-an-object"),
        (None, Entry("null", None, "pending"), "entry-not-an-object"),
        ([1, 2], Entry("[1,2]", None, "pending"), "entry-not-an-object"),
        ({"content": "x", "status": "pending"}, Entry("x", None, "pending"), "no-priority"),
        ({"content": "x", "priority": 1, "status": "pending"}, Entry("x", None, "pending"), "no-priority"),
        ({"content": "x", "priority": "low"}, Entry("x", "low", "pending"), "no-status"),
        ({"content": "x", "priority": "low", "status": None}, Entry("x", "low", "pending"), "no-status"),
        (
            {"content": None, "priority": "low", "status": "pending"},
            Entry('{"content":null,"priority":"low","status":"pending"}', "low", "pending"),
            "no-content",
        ),
        (
            {"content": "x", "priority": "low", "status": "pending", "_meta": 5},
            Entry("x", "low", "pending", None, {"_meta": 5}),
            "bad-meta",
        ),
    ],
)
def test_one_bad_entry_costs_neither_itself_nor_the_others(bad: Any, kept: Entry, code: str) -> None:
    """R6: a report names each required field that is missing."""
    reading = read(plan(entry("a"), bad, entry("b")))
    first, mended, last = only_update(reading).body.entries  # type: ignore[union-attr]
    assert (first.content, last.content) == ("a", "b")
    assert mended == kept
    assert [(report.code, report.where.startswith("params.update.entries[1]")) for report in reading.reports] == [
        (code, True)
    ]


@pytest.mark.parametrize("entries", [None, "x", 5, {}])
def test_entries_that_are_no_list_leave_the_plan_as_it_was(entries: Any) -> None:
    reading = read(line({"sessionUpdate": "plan", "entries": entries}))
    assert only_update(reading).body is None
    assert codes(reading) == [("entries-not-a-list", "params.update.entries")]


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"sessionUpdate": "plan"}, "entries-not-a-list"),
        ({"sessionUpdate": "plan_update"}, "no-plan"),
        ({"sessionUpdate": "plan_update", "plan": []}, "no-plan"),
        ({"sessionUpdate": "plan_update", "plan": {"planId": "p"}}, "no-plan-type"),
        (
            {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": 1}},
            "content-not-text",
        ),
        ({"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p"}}, "uri-not-text"),
        ({"sessionUpdate": "plan_removed"}, "no-plan-id"),
    ],
)
def test_a_known_update_with_nothing_usable_is_reported_and_changes_nothing(update: dict[str, Any], code: str) -> None:
    """R22: a known type with bad content is not an unknown type."""
    reading = read(line(update))
    assert only_update(reading).body is None
    assert [report.code for report in reading.reports] == [code]


def test_a_plan_update_without_an_id_is_the_plan_without_an_id() -> None:
    reading = read(line({"sessionUpdate": "plan_update", "plan": {"type": "items", "entries": [entry("a")]}}))
    assert only_update(reading).body == ItemsPlan(None, (Entry("a", "medium", "pending"),))
    assert [(report.code, report.rule) for report in reading.reports] == [("no-plan-id", "R11")]


def test_an_empty_id_is_reported() -> None:
    """R11"""
    reading = read(line({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "", "content": "x"}}))
    assert only_update(reading).body == MarkdownPlan("", "x")
    assert codes(reading) == [("bad-plan-id", "params.update.plan.planId")]


def test_an_id_that_is_no_string_is_read_as_one() -> None:
    reading = read(line({"sessionUpdate": "plan_removed", "planId": 7}))
    assert only_update(reading).body == Removal("7")
    assert codes(reading) == [("bad-plan-id", "params.update.planId")]


def test_a_missing_type_is_told_from_the_content() -> None:
    reading = read(line({"sessionUpdate": "plan_update", "plan": {"planId": "p", "content": "# Plan"}}))
    assert only_update(reading).body == MarkdownPlan("p", "# Plan")
    assert [report.code for report in reading.reports] == ["no-plan-type"]


@pytest.mark.parametrize("uri", ["plan.md", "/tmp/plan.md", ""])
def test_a_uri_that_is_not_absolute_is_kept_and_reported(uri: str) -> None:
    """R25."""
    reading = read(line({"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": uri}}))
    assert only_update(reading).body == FilePlan("p", uri)
    assert [(report.code, report.rule) for report in reading.reports] == [("uri-not-absolute", "R25")]


@pytest.mark.parametrize(("session", "read_as"), [(None, None), (5, "5")])
def test_a_bad_session_id_is_reported(session: Any, read_as: str | None) -> None:
    reading = read(line({"sessionUpdate": "plan", "entries": []}, session))
    assert only_update(reading).session == read_as
    assert codes(reading) == [("bad-session", "params.sessionId")]


def test_other_messages_are_not_about_plans() -> None:
    for sent in (
        line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": '"plan" \\u0041'}}),
        b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"plan":{"entries":[{"content":"a"}]}}}',
        b'{"jsonrpc":"2.0","id":1,"result":null}',
        b'{"method":"session/update"}',
        b'{"method":"session/update","params":{"update":{"sessionUpdate":["plan"]}}}',
    ):
        reading = read(sent)
        assert (reading.updates, reading.reports) == ((), ())
        assert len(reading.messages) == 1


def test_an_unknown_word_in_a_batch_is_reported_with_its_message() -> None:
    """R36: bare updates have places in a batch, too."""
    bare = b'{"sessionUpdate":"plan","entries":[{"content":"a","priority":"low","status":"odd"}]}'
    odd = [plan(entry("a", "odd")), items("p", entry("b"), entry("c", priority="odd")), bare]
    assert codes(read(b"[" + b",".join(odd) + b"]", V1_DRAFT)) == [
        ("unknown-status", "[0].params.update.entries[0].status"),
        ("unknown-priority", "[1].params.update.plan.entries[1].priority"),
        ("unknown-status", "[2].entries[0].status"),
    ]
    assert codes(read(bare, V1)) == [("unknown-status", "entries[0].status")]


def test_a_line_in_a_batch_is_read_like_one_of_its_own() -> None:
    """R36."""
    batch = b"[" + b",".join([plan(entry("a")), b'{"id":1,"result":{}}', items("p", "b"), b"5"]) + b"]"
    reading = read(batch)
    assert [update.tag for update in reading.updates] == ["plan", "plan_update"]
    assert [message.id for message in reading.messages] == [1]
    assert codes(reading) == [("entry-not-an-object", "[2].params.update.plan.entries[0]"), ("not-a-message", "[3]")]


@pytest.mark.parametrize("sent", [b"", b"  \n", ""])
def test_a_blank_line_says_nothing(sent: Any) -> None:
    assert read(sent) == Reading()


@pytest.mark.parametrize(
    "sent", [b"hello", b'{"a":', b"\xff\xfe", b'"text"', b"5", b"null", b"[" * 5000, b'{"plan":' * 5000, object()]
)
def test_what_is_no_message_is_reported(sent: Any) -> None:
    """R34."""
    reading = read(sent)
    assert (reading.updates, reading.messages) == ((), ())
    assert len(reading.reports) == 1


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        (plan(entry("half")).replace(b"half", b"half \\ud83d emoji"), "half \N{REPLACEMENT CHARACTER} emoji"),
        (plan(entry("latin")).replace(b"latin", b"na\xefve"), "na\N{REPLACEMENT CHARACTER}ve"),
        (plan(entry("nan")).replace(b'"medium"', b'"medium","cost":NaN'), "nan"),
        (plan(entry("big")).replace(b'"medium"', b'"medium","cost":1e999'), "big"),
    ],
)
def test_a_line_that_is_nearly_json_is_mended_and_reported(sent: bytes, content: str) -> None:
    reading = read(sent)
    assert [each.content for each in only_update(reading).body.entries] == [content]  # type: ignore[union-attr]
    assert [report.code for report in reading.reports] == ["not-quite-json"]


def test_a_byte_order_mark_is_passed_over() -> None:
    reading = read(b"\xef\xbb\xbf" + plan(entry("a")))
    assert len(reading.updates) == 1
    assert reading.reports == ()


def test_text_and_bytes_and_values_read_the_same() -> None:
    sent = items("p", entry("ünï"), entry("b", _meta={"x": 1}))
    for form in (
        sent.decode(),
        bytearray(sent),
        memoryview(sent),
        json.loads(sent),
        json.dumps(json.loads(sent), indent=1),
    ):
        assert read(form) == read(sent)


def test_reading_a_value_leaves_it_alone() -> None:
    value = json.loads(items("p", entry("a", effort=1)))
    read(value)
    assert value == json.loads(items("p", entry("a", effort=1)))


def test_a_line_over_the_limit_is_not_looked_into() -> None:
    reading = read(b" " * (MAX_LINE_BYTES + 1))
    assert [report.code for report in reading.reports] == ["line-too-long"]


def test_entries_over_the_limit_are_reported_and_the_others_kept() -> None:
    reading = read(plan(*[entry("a")] * (MAX_ENTRIES + 1)))
    assert len(only_update(reading).body.entries) == MAX_ENTRIES  # type: ignore[union-attr]
    assert codes(reading) == [("too-many-entries", "params.update.entries")]


@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 600])
def test_unknown_fields_that_are_nested_too_deeply_are_left_out(levels: int) -> None:
    deep = nested(levels)
    sent = line(
        {"sessionUpdate": "plan", "entries": [entry("a", _meta={"d": deep}), entry("b", x=deep)], "y": deep}, _meta=deep
    )
    reading = read(sent)
    body = only_update(reading).body
    assert body == ItemsPlan(None, (Entry("a", "medium", "pending", {}), Entry("b", "medium", "pending")))
    assert [report.code for report in reading.reports] == ["too-deep"] * 4


def test_unknown_fields_within_the_limit_are_kept() -> None:
    deep = nested(MAX_NESTING - 1)
    assert only_update(read(plan(entry("a", _meta={"d": deep})))).body == ItemsPlan(
        None, (Entry("a", "medium", "pending", {"d": deep}),)
    )


def test_a_line_full_of_mistakes_gives_a_bounded_number_of_reports() -> None:
    assert len(read(plan(*range(MAX_REPORTS * 3)), V1).reports) == MAX_REPORTS


def test_a_list_that_only_looks_like_the_plans_own_is_not_taken_for_it() -> None:
    decoy = {"entries": [entry("decoy")]}
    for update in (
        {"_meta": decoy, "sessionUpdate": "plan", "entries": [entry("real")]},
        {"_meta": decoy, "sessionUpdate": "plan", "entries": [], "tail": ["]"]},
        {"sessionUpdate": "plan", "entries": [entry('"entries":[{}]')], "_meta": decoy},
        {"_meta": decoy, "sessionUpdate": "plan", "entries": "\x7fentries"},
    ):
        reading = read(line(update))
        body = only_update(reading).body
        if isinstance(body, ItemsPlan):
            assert [each.content for each in body.entries] == [each["content"] for each in update["entries"]]  # type: ignore[index]
            assert (body.meta or {}).get("entries") == decoy["entries"]
        else:
            assert codes(reading) == [("entries-not-a-list", "params.update.entries")]


def test_nobody_on_the_wire_can_set_what_only_planwire_sets() -> None:
    sent = plan(entry("a") | {EXTRA: {"content": "b"}})
    for form in (sent, sent.replace(b"\x7f", b"\\u007f"), sent.replace(b'"sessionUpdate"', b'"x":1,"sessionUpdate"')):
        [kept] = only_update(read(form)).body.entries  # type: ignore[union-attr]
        assert kept == Entry("a", "medium", "pending", None, {EXTRA: {"content": "b"}})
