"""From one dialect to another, and the fallback to v1."""

import json
from typing import Any

import pytest

from planwire import DIALECTS, V1, V1_DRAFT, V1_RFD, V2, Dialect, Entry, ItemsPlan, Translator
from tests.wire import answer, entry, file, items, line, plan, removed, request, streamed, text, update_of


def said(translator: Translator, *lines: bytes) -> list[dict[str, Any]]:
    """The updates that a client gets for the lines."""
    return [update_of(out) for each in lines for out in translator.translate(each)]


def listed(update: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["content"], each["status"]) for each in update["entries"]]


def chunk(text: str, message: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": message}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_lines_that_are_not_about_plans_stay_as_they_are(dialect: Dialect) -> None:
    for sent in (
        b'{ "jsonrpc" : "2.0", "id":1, "result":{"plan": null} }',
        b"not json at all",
        b"",
        b"\xff",
        line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "plan"}}),
        b"[]",
        b'[{"id":1,"result":{}}]',
    ):
        assert Translator(dialect).translate(sent) == (sent,)


@pytest.mark.parametrize(
    ("sent", "dialect"),
    [
        (plan(entry("a")), V1),
        (plan(entry("a")), V1_RFD),
        (plan(entry("a")), V1_DRAFT),
        (items("p", entry("a"), key="id"), V1_RFD),
        (items("p", entry("a"), id="p"), V1_DRAFT),
        (line({"sessionUpdate": "plan_removed", "id": "p", "planId": "p"}), V1_DRAFT),
        (items("p", entry("a", "cancelled", "_x")), V2),
        (removed("p"), V2),
        (text("p", "# Plan"), V2),
    ],
)
def test_a_line_that_is_understood_stays_as_it_is_spaces_and_all(sent: bytes, dialect: Dialect) -> None:
    sent = sent.replace(b'"jsonrpc":', b'"jsonrpc" :  ').replace(b"a", b"\\u0061", 1)
    assert Translator(dialect).translate(sent) == (sent,)


def test_the_key_of_the_id_is_spelled_as_the_client_reads_it() -> None:
    assert said(Translator(V1_RFD), items("p", entry("a")))[0]["plan"]["id"] == "p"
    assert said(Translator(V2), items("p", entry("a"), key="id"))[0]["plan"]["planId"] == "p"
    assert said(Translator(V1_DRAFT.spelling("planId")), removed("p", "id")) == [update_of(removed("p"))]


SPLICED = [
    # dialect, the member in an agent's line, the member that its client gets
    (V1_DRAFT, b'"id" :  "p"', b'"planId":"p","id" :  "p"'),
    (V1_DRAFT, b'"planId":"p"', b'"planId":"p","id":"p"'),
    (V1_DRAFT, b'"\\u0069d":"\\u0070"', b'"planId":"\\u0070","\\u0069d":"\\u0070"'),
    (V1_DRAFT, b'"planId":null , "id":"p"', b'"planId":"p" , "id":"p"'),
    (V1_DRAFT, b'"id":"q", "planId":"p"', b'"id":"p", "planId":"p"'),
    (V1_RFD, b'"planId":"p"', b'"id":"p"'),
    (V2, b'"id": "p"', b'"planId":"p"'),
    (V1_DRAFT.spelling("planId"), b'"id":"p"', b'"planId":"p"'),
]


@pytest.mark.parametrize(("dialect", "sent", "got"), SPLICED)
def test_an_id_under_a_key_that_the_client_does_not_read_is_spelled_anew_and_no_other_byte_changes(
    dialect: Dialect, sent: bytes, got: bytes
) -> None:
    """R11, R18: a reader that misses the key loses the whole update. Where two ids differ, `planId` counts."""
    entries = b'"entries" : [ {"content":"\\u0061","priority":"low","status":"pending","n":1.50e0} ]'
    for update in (
        b'{"plan": {"type":"items", %b, ' + entries + b'}, "sessionUpdate":"plan_update", "_meta":{"id":1}}',
        b'{"plan": {"type":"items", ' + entries + b' ,%b },"sessionUpdate":"plan_update"}',
        b'{"sessionUpdate":"plan_update","plan":{"type":"markdown",%b,"content":"# A \\"id\\": 5"}}',
        b'{"sessionUpdate":"plan_update","plan":{"type":"file",%b,"uri":"file:///p.md"}}',
        b'{"sessionUpdate":"plan_update","plan":{"type":"items",%b,"entries":null}}',
        b'{"sessionUpdate":"plan_removed", %b}',
    ):
        bare, wrapped = (
            update % sent,
            b'{"jsonrpc":"2.0" ,"method":"session/update","params":{"update":%b,"sessionId":"s1"}}',
        )
        assert Translator(dialect).translate(bare) == (update % got,)
        assert Translator(dialect).translate(wrapped % bare) == (wrapped % (update % got),)


@pytest.mark.parametrize(
    "sent",
    [
        items("p", entry("a"), key="id").replace(b'"id":', b'"id":"other","id":'),
        items("p", entry("a"), key="id").replace(b'"plan":', b'"plan":{"id":"other"},"plan":'),
        items("p", entry("a"), key="id").replace(b'"update":', b'"update":{},"update":'),
        b"\xef\xbb\xbf" + items("p", entry("a"), key="id"),
    ],
    ids=["key twice", "plan twice", "update twice", "byte order mark"],
)
def test_a_line_too_odd_to_be_spliced_is_written_anew(sent: bytes) -> None:
    """R11."""
    [update] = said(Translator(V1_DRAFT), sent)
    assert (update["plan"]["planId"], update["plan"]["id"]) == ("p", "p")
    assert update["plan"]["entries"] == [entry("a")]


def test_a_v1_plan_becomes_the_plan_main_in_v2() -> None:
    """R27, R29."""
    [update] = said(Translator(V2), plan(entry("a"), _meta={"m": 1}))
    assert update == {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": "main", "entries": [entry("a")], "_meta": {"m": 1}},
    }


def test_an_identified_list_becomes_the_v1_plan() -> None:
    """R8, R9."""
    [update] = said(Translator(V1), items("p", entry("a"), entry("b", "completed"), _meta={"m": 1}))
    assert update == update_of(plan(entry("a"), entry("b", "completed"), _meta={"m": 1}))


def test_checkboxes_become_entries() -> None:
    [update] = said(Translator(V1), text("p", "## Steps\n- [ ] a\n- [~] b\n- [x] c\n- [-] d\n"))
    assert listed(update) == [
        ("a", "pending"),
        ("b", "in_progress"),
        ("c", "completed"),
        ("[cancelled] d", "completed"),
    ]


def test_plans_are_named_only_while_there_are_several() -> None:
    translator = Translator(V1)
    updates = said(
        translator,
        plan(entry("a")),
        items("p", entry("b", "in_progress")),
        plan(entry("a", "completed")),
        removed("p"),
    )
    assert [listed(update) for update in updates] == [
        [("a", "pending")],
        [("Plan: a", "pending"), ("p: b", "in_progress")],
        [("Plan: a", "completed"), ("p: b", "in_progress")],
        [("a", "completed")],
    ]


def test_removing_the_last_plan_leaves_an_empty_list() -> None:
    assert said(Translator(V1), items("p", entry("a")), removed("p"))[-1] == update_of(plan())


def test_removing_what_is_not_there_says_nothing() -> None:
    assert said(Translator(V1), removed("never")) == []


NAME = "\n\n**Plan: p**\n\n"


def test_a_proposal_is_said_by_its_name_and_never_stands_in_the_list() -> None:
    updates = said(Translator(V1), text("p", "# Plan B\n\nOnly one thing."))
    assert updates == [chunk(f"{NAME}# Plan B\n\nOnly one thing.", "planwire:p:1")]


def test_of_a_growing_proposal_only_what_is_new_is_said() -> None:
    updates = said(Translator(V1), text("p", "# Par"), text("p", "# Parser\n\nWh"), text("p", "# Parser\n\nWhy"))
    assert updates == [
        chunk(f"{NAME}# Par", "planwire:p:1"),
        chunk("ser\n\nWh", "planwire:p:1"),
        chunk("y", "planwire:p:1"),
    ]


def words(content: str) -> bytes:
    return line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": content}})


def test_texts_that_stand_in_the_chat_are_set_apart_by_blank_lines_and_say_what_they_are() -> None:
    """R9: some clients print all chunks in a row, whatever message they belong to."""
    updates = said(
        Translator(V1),
        words("I have a plan."),
        text("design-doc", "First the lexer."),
        text("design-doc", "First the lexer. Then the parser."),
        file("f", "file:///tmp/plan.md"),
        words("I start "),
        words("now."),
        text(UUID, "Another."),
    )
    printed = "".join(update["content"]["text"] for update in updates)
    assert printed == (
        "I have a plan.\n\n**Plan: design-doc**\n\nFirst the lexer. Then the parser.\n\n"
        "Plan file: file:///tmp/plan.md\n\nI start now.\n\n**Plan**\n\nAnother."
    )


def test_a_text_that_goes_on_behind_other_words_begins_on_a_line_of_its_own_unless_that_would_cut_a_sentence() -> None:
    translator = Translator(V1)
    said(translator, text("p", "One.\n"), words("Hm."))
    assert said(translator, text("p", "One.\nTwo")) == [chunk("\n\nTwo", "planwire:p:1")]
    said(translator, words("Hm."))
    assert said(translator, text("p", "One.\nTwo, three")) == [chunk(", three", "planwire:p:1")]


def test_words_behind_a_prompt_stand_apart_anyway() -> None:
    translator = Translator(V1)
    said(translator, text("p", "One."))
    translator.translate(request("session/prompt", 1, sessionId="s1", prompt=[]))
    assert translator.translate(words("Hm.")) == (words("Hm."),)


def test_a_rewritten_proposal_is_a_new_message() -> None:
    updates = said(Translator(V1), text("p", "# A"), text("p", "# B"))
    assert [update["messageId"] for update in updates if "messageId" in update] == ["planwire:p:1", "planwire:p:2"]


def test_a_list_that_the_agent_clears_is_cleared_whatever_text_is_around() -> None:
    """R4, R14. Its boxes come back with the next change of the text."""
    translator = Translator(V1)
    said(translator, text("p", "# Plan\n\n- [ ] a"))
    assert listed(said(translator, plan(entry("b")))[-1]) == [("Plan: a", "pending"), ("Plan 2: b", "pending")]
    assert translator.translate(plan()) == (plan(),)
    assert listed(said(translator, text("p", "# Plan\n\n- [ ] a"))[-1]) == []
    assert listed(said(translator, text("p", "# Plan\n\n- [x] a"))[-1]) == [("a", "completed")]


def test_the_steps_of_a_proposal_that_ended_leave_the_list_until_it_lives_again() -> None:
    translator = Translator(V1)
    said(translator, text("p", "# Plan\n\n- [ ] a"), items("q", entry("b")))
    assert [listed(update_of(sent)) for sent in translator.follow("s1", {}, {"p"})] == [[("b", "pending")]]
    assert translator.follow("s1", {}, {"p"}) == ()
    assert [len(listed(update_of(sent))) for sent in translator.follow("s1", {}, set())] == [2]
    translator.follow("s1", {}, {"p"})
    assert listed(said(translator, text("p", "# Plan\n\n- [ ] c"))[-1]) == [("Plan: c", "pending"), ("q: b", "pending")]
    assert Translator(V2).follow("s1", {}, {"p"}) == ()


def test_plans_have_the_order_and_the_names_that_the_journal_gives_them() -> None:
    """R37: after a load an agent may retell them in another order."""
    translator = Translator(V1)
    first, second = ItemsPlan("main", (Entry("a", "medium", "pending"),)), ItemsPlan(None, ())
    said(translator, plan(entry("b")), items("main", entry("a")))
    (sent,) = translator.follow("s1", {"main": first, None: second}, set())
    assert listed(update_of(sent)) == [("Plan: a", "pending"), ("Plan 2: b", "pending")]
    assert listed(said(translator, plan(entry("c")))[-1]) == [("Plan: a", "pending"), ("Plan 2: c", "pending")]


UUID = "0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f"


def test_a_file_is_said_by_its_uri_and_a_custom_kind_as_its_json_and_neither_is_an_entry() -> None:
    """R8, R9."""
    tree = line({"sessionUpdate": "plan_update", "plan": {"type": "_tree", "planId": "t", "nodes": [1]}})
    updates = said(Translator(V1), file(UUID, "file:///p.md"), tree)
    address, value = updates
    assert address == chunk("\n\nPlan file: file:///p.md", f"planwire:{UUID}:1")
    said_of_it = value["content"]["text"].removeprefix("\n\n**Plan: t**\n\n```json").removesuffix("```")
    assert json.loads(said_of_it) == {"type": "_tree", "nodes": [1]}


def test_the_checkboxes_of_a_file_that_may_be_read_are_entries_and_its_address_is_none() -> None:
    """R8, R9: a v1 client has one list, and nothing but entries in it. R2: sent again, the plan is as it is by then."""
    texts = {("s1", "file:///p.md"): "# Port\n\nWhy: speed.\n\n- [x] read\n- [ ] write\n"}
    translator = Translator(V1, lambda session, uri: texts.get((str(session), uri)))
    spoken, update = said(translator, file(UUID, "file:///p.md"))
    assert spoken == chunk("\n\nPlan file: file:///p.md", f"planwire:{UUID}:1")
    assert listed(update) == [("read", "completed"), ("write", "pending")]
    texts["s1", "file:///p.md"] = "# Port\n\n- [x] read\n- [x] write\n"
    [update] = said(translator, file(UUID, "file:///p.md"))
    assert listed(update) == [("read", "completed"), ("write", "completed")]
    [update] = said(translator, plan(entry("a")))
    assert listed(update) == [("Port: read", "completed"), ("Port: write", "completed"), ("Plan: a", "pending")]
    texts.clear()
    [update] = said(translator, file(UUID, "file:///p.md"))
    assert listed(update) == [("a", "pending")]
    assert translator.translate(plan()) == (plan(),)


@pytest.mark.parametrize("dialect", [V1_RFD, V1_DRAFT, V2], ids=lambda each: each.name)
def test_a_client_that_knows_plan_files_gets_the_address_and_no_file_is_read(dialect: Dialect) -> None:
    """R24, R25: the file is the client's to open."""

    def read_file(_session: str | None, uri: str) -> str:
        raise AssertionError(f"{uri} was read")

    [update] = said(Translator(dialect, read_file), file("f", "file:///p.md"))
    assert update["plan"]["uri"] == "file:///p.md"


def test_entries_of_several_plans_begin_with_titles_and_never_with_an_id_that_a_machine_made() -> None:
    """R8, R9: a v1 list has no ids and no headings."""
    other = UUID.replace("0198", "0199")
    updates = said(
        Translator(V1),
        items(UUID, entry("a")),
        items(other, entry("b")),
        text("q", "- [ ] c"),
        text(f"plan-{UUID}", "# Port it\n- [ ] d\n"),
    )
    assert [content for content, _ in listed(updates[-1])] == ["Plan: a", "Plan 2: b", "q: c", "Port it: d"]


@pytest.mark.parametrize(
    "behind",
    [
        words("So far."),
        request("session/request_permission", 9, sessionId="s1"),
        plan(entry("own")),
        items("q", entry("own")),
        text("p", "# P\n- [ ] Alpha\n- [ ] Beta"),
        answer(4, {"stopReason": "end_turn"}),
    ],
    ids=["words", "question", "list", "plan", "again", "turn"],
)
def test_a_step_of_a_text_that_streams_in_is_listed_when_its_line_is_complete(behind: bytes) -> None:
    """R28: the last one when the text is whole, because something else comes."""
    translator = Translator(V1)
    pieces = ["# P\n- [ ] Al", "# P\n- [ ] Alpha\n- [", "# P\n- [ ] Alpha\n- [ ] B", "# P\n- [ ] Alpha\n- [ ] Beta"]
    updates = said(translator, *(text("p", piece) for piece in pieces))
    assert [listed(update) for update in updates if "entries" in update] == [[("Alpha", "pending")]]
    lines = translator.translate(behind, "agent")
    lists = [listed(update_of(line)) for line in lines if b'"entries"' in line]
    assert [content.removeprefix("P: ") for content, _ in lists[0]][:2] == ["Alpha", "Beta"]
    assert translator.end() == ()


@pytest.mark.parametrize("sender", [None, "agent"])
def test_the_last_step_of_a_text_is_listed_before_the_turn_ends_whether_or_not_the_sender_is_given(
    sender: str | None,
) -> None:
    """R28."""
    translator = Translator(V1)
    translator.translate(request("session/prompt", 2, sessionId="s1", prompt=[]), sender and "client")
    translator.translate(text("p", "# x\n- [ ] a\n- [ ] b"), sender)
    listing, end = translator.translate(answer(2, {"stopReason": "end_turn"}), sender)
    assert listed(update_of(listing)) == [("a", "pending"), ("b", "pending")]
    assert end == answer(2, {"stopReason": "end_turn"})


def test_the_last_step_of_a_text_is_listed_when_nothing_comes_any_more() -> None:
    translator = Translator(V1)
    assert said(translator, text("p", "- [ ] Alpha")) == []
    [line] = translator.end()
    assert listed(update_of(line)) == [("Alpha", "pending")]


def test_a_text_that_is_rewritten_keeps_its_last_step_in_the_list() -> None:
    updates = said(Translator(V1), text("p", "- [ ] a\n- [ ] b"), words("So far."), text("p", "- [x] a\n- [ ] b"))
    assert [listed(update) for update in updates if "entries" in update][-1] == [("a", "completed"), ("b", "pending")]


def test_prose_around_checkboxes_is_said_once_and_not_again_for_a_tick() -> None:
    updates = said(
        Translator(V1),
        text("p", "Why: speed.\n\n- [ ] a\n- [ ] b\n"),
        text("p", "Why: speed.\n\n- [x] a\n- [ ] b\n"),
        text("p", "Why: speed.\n\n- [x] a\n- [ ] b\n\nDone soon.\n"),
    )
    assert [update["content"]["text"] for update in updates if "content" in update] == [
        f"{NAME}Why: speed.\n\n- [ ] a\n- [ ] b\n",
        "\nDone soon.\n",
    ]
    assert len([update for update in updates if update["sessionUpdate"] == "plan"]) == 3


def test_streamed_text_arrives_whole_where_nobody_streams() -> None:
    [first, second] = said(Translator(V2), text("p", "# Pl"), streamed("p", "an"))
    assert (first["plan"]["content"], second["plan"]["content"]) == ("# Pl", "# Plan")
    assert second["_meta"] == {"jetbrains": {"air": {"version": 1}}}
    chunks = said(Translator(V1), text("p", "# Pl"), streamed("p", "an"))
    assert "".join(update["content"]["text"] for update in chunks if "content" in update) == f"{NAME}# Plan"


def test_what_a_v1_client_does_not_know_is_not_sent_to_it_even_if_it_is_broken() -> None:
    """R8."""
    broken = line({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": 5}})
    assert Translator(V1).translate(broken) == ()
    assert Translator(V2).translate(broken) == (broken,)
    odd = line({"sessionUpdate": "plan", "entries": None})
    assert Translator(V1).translate(odd) == (odd,)


def test_what_stands_around_a_plan_is_translated_with_it() -> None:
    sent = line(
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "id": "p", "entries": []}, "_meta": {"u": 1}},
        _meta={"q": 1},
    )
    [translated] = Translator(V2).translate(sent)
    value = json.loads(translated)
    assert value["params"]["_meta"] == {"q": 1}
    assert value["params"]["update"]["_meta"] == {"u": 1}


def test_a_batch_is_translated_message_by_message() -> None:
    """R36."""
    chunked = line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}})
    batch = b"[" + chunked + b", " + items("p", entry("a")) + b"]"
    [translated] = Translator(V1).translate(batch)
    assert json.loads(translated) == [json.loads(chunked), json.loads(plan(entry("a")))]
    assert Translator(V1).translate(b"[" + removed("p") + b"]") == ()


def test_a_client_that_loads_a_session_is_told_everything_again() -> None:
    """R37: its transcript starts over."""
    translator = Translator(V1)
    said(translator, text("p", "# Plan\n\nWhy"))
    assert said(translator, text("p", "# Plan\n\nWhy")) == []
    translator.translate(request("session/load", 5, sessionId="s1"))
    updates = said(translator, text("p", "# Plan\n\nWhy"))
    assert updates == [chunk(f"{NAME}# Plan\n\nWhy", "planwire:p:2")]
    assert translator.translate(answer(5)) == (answer(5),)


def test_a_plan_called_main_and_the_plan_without_an_id_stay_two_plans() -> None:
    translator = Translator(V2)
    said(translator, items("main", entry("a")))
    assert said(translator, plan(entry("b")))[0]["plan"]["planId"] == "main (no id)"


def test_entries_that_other_readers_would_drop_are_mended_on_the_way() -> None:
    """R6, R28."""
    for dialect in (V1, V1_RFD, V1_DRAFT):
        [update] = said(Translator(dialect), plan("just text", {"content": None}, entry("a")))
        assert listed(update) == [("just text", "pending"), ('{"content":null}', "pending"), ("a", "pending")]


def test_sessions_do_not_mix() -> None:
    translator = Translator(V1)
    said(translator, items("p", entry("a"), session="s1"))
    assert listed(said(translator, items("q", entry("b"), session="s2"))[-1]) == [("b", "pending")]


def test_an_id_that_is_a_number_reaches_the_client_as_text() -> None:
    """R11: clients drop the whole notification otherwise."""
    sent = items("7", entry("a")).replace(b'"7"', b"7")
    (update,) = said(Translator(V2), sent)
    assert update["plan"]["planId"] == "7"
