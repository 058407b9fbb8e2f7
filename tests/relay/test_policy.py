"""What the relay does about lines: what each side gets, and what is recorded. R-numbers: docs/wire.md."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire.acp.words import PLAN_UPDATES
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    ContextCompacted,
    Gap,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import MarkdownPlan
from planwire.relay.actions import BY_RELAY, Meet, Record, ToAgent, ToClient, Warn
from planwire.relay.dedupe import begin, learn
from planwire.relay.envelope import WORDS_OF_AGENT
from planwire.relay.other_updates import HANDLERS
from planwire.relay.policy import Policy
from tests.agents.driving import Talk
from tests.wire import (
    JSON,
    answer,
    both_keys,
    entry,
    file,
    items,
    line,
    plan,
    refusal,
    removed,
    request,
    streamed,
    text,
    update_of,
)

PLANS: JSON = {"plan": {}}
COMPACTION: JSON = {"session": {"compaction": {}}}


def initialize(**params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()


def offered(hello: bytes) -> JSON:
    (sent,) = Talk(begun=False).client(hello)
    params: JSON = json.loads(sent)["params"]
    return params


# -- initialize


ALL_OFFERED: JSON = {"plan": {}, "planCapabilities": {}, "session": {"compaction": {}}}


@pytest.mark.parametrize("said", [{}, {"clientCapabilities": None}, {"clientCapabilities": {}}])
def test_both_plan_capabilities_and_compaction_are_offered(said: JSON) -> None:
    """R8, R51: an agent sends only what was advertised to it. R10: null is nothing."""
    assert offered(initialize(protocolVersion=1, **said))["clientCapabilities"] == ALL_OFFERED


def test_what_the_client_said_is_kept_byte_for_byte() -> None:
    """R46."""
    hello = (
        b'{"id":0, "method":"initialize","params":{ "clientCapabilities" : {"fs":{"readTextFile":true},"x":1.50,'
        b'"plan":{"_meta":{"a":1}},"session":{"notices":{}} },"protocolVersion":1}}'
    )
    (sent,) = Talk(begun=False).client(hello)
    assert sent == hello.replace(b'"notices":{}} }', b'"notices":{},"compaction":{}} ,"planCapabilities":{}}')


def test_a_capability_that_is_not_an_object_is_none_and_is_made_one() -> None:
    """R10."""
    said = {"plan": True, "planCapabilities": None, "session": {"compaction": False}}
    assert offered(initialize(protocolVersion=1, clientCapabilities=said))["clientCapabilities"] == ALL_OFFERED


def test_nothing_is_added_for_version_2() -> None:
    """R26: version 2 has no such capabilities."""
    hello = initialize(protocolVersion=2, capabilities={}, info={"name": "c", "version": "1"})
    assert Talk(begun=False).client(hello) == [hello]


def test_extensions_of_jetbrains_are_never_offered_and_never_taken_away() -> None:
    air = {"_meta": {"jetbrains": {"air": {"planContentDelta": True}}}}
    assert offered(initialize(protocolVersion=1, clientCapabilities=air))["clientCapabilities"] == {
        **air,
        **ALL_OFFERED,
    }
    assert b"jetbrains" not in Talk(begun=False).client(initialize(protocolVersion=1))[0]


def test_the_version_in_force_is_the_answered_one() -> None:
    """R30: a client that asked for version 2 and was answered 1 is a v1 client without plan capabilities."""
    talk = Talk(begun=False)
    talk.client(initialize(protocolVersion=2, capabilities={}))
    talk.agent(answer(0, {"protocolVersion": 1}))
    (sent,) = talk.agent(items("p", entry("a")))
    assert update_of(sent)["sessionUpdate"] == "plan"


# -- what is looked into


def test_every_update_that_somebody_handles_is_looked_into() -> None:
    """A tool call matters only with a plan in it or a change of the mode, and those two are words of their own."""
    handled = HANDLERS.keys() | PLAN_UPDATES
    heard = {sort for sort in handled if any(word in f'"{sort}"'.encode() for word in WORDS_OF_AGENT)}
    assert handled - heard == {"tool_call", "tool_call_update"}
    assert {b'"plan', b'"switch_mode"'} <= {*WORDS_OF_AGENT}


# -- what the client gets


def test_a_client_without_the_capability_gets_a_lowered_plan() -> None:
    """R8, R9."""
    (sent,) = Talk().agent(items("p", entry("a"), entry("b", "cancelled")))
    contents = [(each["content"], each["status"]) for each in update_of(sent)["entries"]]
    assert contents == [("a", "pending"), ("[cancelled] b", "completed")]


def test_a_client_with_the_capability_gets_the_very_bytes_with_the_id_under_both_keys() -> None:
    """R11."""
    sent = items("p", entry("a"))
    assert Talk(PLANS).agent(sent) == [both_keys(sent)]
    assert Talk(PLANS).agent(both_keys(sent)) == [both_keys(sent)]


def test_a_client_of_the_first_spelling_gets_its_key() -> None:
    (sent,) = Talk({"planCapabilities": {}}).agent(items("p", entry("a")))
    assert update_of(sent)["plan"]["id"] == "p"


def test_lists_that_need_no_translation_are_merged_with_what_comes_beside_them() -> None:
    """R4, R12: the short way for usual lines ends where another plan begins."""
    talk = Talk()
    for status in ("pending", "in_progress", "completed"):
        usual = plan(entry("a", status))
        assert talk.agent(usual) == [usual]
    (sent,) = talk.agent(items("p", entry("b")))
    assert [each["content"] for each in update_of(sent)["entries"]] == ["Plan: a", "p: b"]
    (sent,) = talk.agent(plan(entry("c")))
    assert [each["content"] for each in update_of(sent)["entries"]] == ["Plan: c", "p: b"]


@pytest.mark.parametrize("meta", [{}, {"_meta": {"jetbrains": {"air": {"version": 1, "contentDelta": "# Text"}}}}])
def test_a_list_replaces_a_text_that_has_no_id_either(meta: JSON) -> None:
    """R12, R27: the client has the text as `main`, and would go on showing it beside the list."""
    talk = Talk(PLANS)
    talk.agent(plan(entry("a")))
    unnamed = {"type": "markdown", "content": "# Text"}
    talk.agent(line({"sessionUpdate": "plan_update", "plan": unnamed, **meta}))
    usual = plan(entry("b"))
    gone, sent = talk.agent(usual)
    assert (update_of(gone)["sessionUpdate"], update_of(gone)["planId"]) == ("plan_removed", "main")
    assert sent == usual


def test_the_short_way_is_not_for_lists_that_a_client_would_not_read_whole() -> None:
    """R7."""
    talk = Talk()
    talk.agent(plan(entry("a")))
    talk.agent(plan(entry("b")))
    (sent,) = talk.agent(plan(entry("a", "cancelled")))
    assert update_of(sent)["entries"][0]["content"] == "[cancelled] a"
    broken = plan(entry("a")).replace(b'"priority":"medium",', b"")
    assert update_of(talk.agent(broken)[0])["entries"][0]["priority"] == "medium"


def test_pieces_of_a_text_reach_a_client_that_asked_for_pieces_as_they_are() -> None:
    talk = Talk({**PLANS, "_meta": {"jetbrains": {"air": {"planContentDelta": True}}}})
    talk.agent(text("p", "# Par"))
    assert talk.agent(streamed("p", "ser")) == [both_keys(streamed("p", "ser"))]
    assert talk.plan_events() == [PlanSet(MarkdownPlan("p", "# Parser"), via="acp")]


def test_updates_of_compactions_are_only_for_clients_that_asked_for_them() -> None:
    """R51. What an agent would have shown instead is shown: a tool call."""
    told = line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"})
    done = line(
        {
            "sessionUpdate": "compaction_update",
            "compactionId": "c",
            "status": "completed",
            "summary": [{"type": "text", "text": "We did much."}],
        }
    )
    for client in (Talk(COMPACTION), Talk(version=2)):
        assert client.agent(told) == [told]
    talk = Talk()
    first, second = (update_of(talk.agent(each)[0]) for each in (told, done))
    assert (first["sessionUpdate"], first["status"]) == ("tool_call", "in_progress")
    assert (second["sessionUpdate"], second["status"]) == ("tool_call_update", "completed")
    assert second["content"][0]["content"]["text"] == "We did much."
    assert talk.agent(done) == []
    chunk = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": {"type": "text", "text": "x"}}
    assert talk.agent(line(chunk)) == []


BORING = [
    b"",
    b"not json",
    b'{"id":',
    b"[]",
    b"[1,2]",
    b'{"jsonrpc":"2.0","id":true,"result":1}',
    b'{"jsonrpc":"2.0","method":"session/update","params":[1],"plan":"plan"}',
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{"sessionUpdate":"usage_update"}}}',
    b'\xff\xfe"plan"\x80',
    b'{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"path":"/plan"}}',
    b'{"jsonrpc":"2.0","id":9,"result":{"content":"\\"plan\\""}}',
    b'{"jsonrpc":"2.0","method":"_x.ai/plan","params":{"sessionId":"s1","plan":"x"}}',
    b'{"jsonrpc":"2.0","id":"i","error":{"code":1}}\r',
    b'{"sessionUpdate":"plan","entries":[]}',
]


@pytest.mark.parametrize("boring", BORING)
def test_lines_that_need_no_change_leave_byte_for_byte(boring: bytes) -> None:
    """R33, R34, R46: whatever they are, from either side, before and after `initialize`."""
    for talk in (Talk(), Talk(PLANS), Talk(begun=False), Talk(version=2)):
        assert talk.agent(boring) == [boring]
        assert talk.client(boring) == [boring]


@given(st.binary(max_size=60).filter(lambda data: b"\n" not in data))
def test_any_bytes_pass(data: bytes) -> None:
    talk = Talk()
    assert talk.agent(data) == [data]
    assert talk.client(data) == [data]


def test_the_policy_never_raises_on_odd_values() -> None:
    odd: list[Any] = [None, True, 1, "x", [], {}, [None], {"a": None}]
    for method in ("initialize", "session/new", "session/load", "session/resume", "session/prompt"):
        for value in odd:
            talk = Talk()
            for params in ({"params": value}, {"params": {"sessionId": value, "prompt": value, "cwd": value}}):
                talk.client(json.dumps({"id": 1, "method": method, **params}).encode())
                talk.agent(json.dumps({"id": 1, "result": value}).encode())
                talk.agent(json.dumps({"id": 1, "result": {"sessionId": value, "stopReason": value}}).encode())
    for sort in ("state_update", "usage_update", "session_info_update", "tool_call", "user_message_chunk"):
        for value in odd:
            fields = dict.fromkeys(("state", "used", "title", "toolCallId", "rawInput", "content", "kind"), value)
            sent = line({"sessionUpdate": sort, **fields})
            assert Talk().agent(sent) == [sent]
    for value in odd:
        params = {"sessionId": "s1", "toolCall": value, "options": value, "subject": value}
        sent = request("session/request_permission", 1, **params)
        assert Talk().agent(sent) == [sent]


# -- batches


@pytest.mark.parametrize("broken", [b"a\\ud800", b"a\xff"], ids=["half an emoji", "no UTF-8"])
def test_a_batch_that_is_not_quite_json_is_translated_and_recorded(broken: bytes) -> None:
    """R36: one message that needs mending costs neither the others nor itself."""
    talk = Talk()
    batch = b"[%b,%b]" % (plan(entry("one")).replace(b"one", broken), items("p", entry("two")))
    [sent] = talk.agent(batch)
    entries = json.loads(sent)[-1]["params"]["update"]["entries"]
    assert [each["content"] for each in entries] == ["Plan: a\ufffd", "p: two"]
    assert [event.plan.id for event in talk.plan_events() if isinstance(event, PlanSet)] == [None, "p"]


def test_a_batch_is_heard_message_by_message() -> None:
    """R36."""
    talk = Talk(version=2)
    batch = b"[" + items("p", entry("a")) + b", " + items("q", entry("b")) + b"]"
    assert talk.agent(batch) == [batch]
    assert [event.plan.id for event in talk.plan_events() if isinstance(event, PlanSet)] == ["p", "q"]
    (sent,) = Talk(version=2).agent(b"[" + plan(entry("a")) + b"," + items("q", entry("b")) + b"]")
    assert [each["params"]["update"]["sessionUpdate"] for each in json.loads(sent)] == ["plan_update", "plan_update"]


# -- what is recorded


@pytest.mark.parametrize("title", [None, "Known by it"])
def test_a_session_that_goes_on_gets_a_title_if_it_never_had_one(title: str | None) -> None:
    talk = Talk()
    talk.client(request("session/load", "l", sessionId="old", cwd="/project"))
    talk.agent(answer("l", {}))
    found = begin("old")
    talk.know(found if title is None else learn(found, Recorded("old", 1, 0, "relay", SessionOpened(title=title))))
    talk.prompt("Write a parser", session="old")
    titles = [event.title for event in talk.events("old") if isinstance(event, SessionOpened) and event.title]
    assert titles == (["Write a parser"] if title is None else [])


def test_a_session_is_recorded_with_agent_client_folder_and_title() -> None:
    talk = Talk()
    talk.prompt("  Write a parser\nand test it ")
    opened = [event for event in talk.events() if isinstance(event, SessionOpened)]
    assert opened == [SessionOpened("agent 1", "client 2", "/project"), SessionOpened(title="Write a parser")]
    talk.agent(line({"sessionUpdate": "session_info_update", "title": "The parser"}))
    assert talk.events()[-2:] == [SessionOpened(title="The parser"), TurnEnded("disconnected")]


def test_an_agent_without_a_name_is_called_after_its_command() -> None:
    talk = Talk(begun=False)
    talk.client(initialize(protocolVersion=1))
    talk.agent(answer(0, {"protocolVersion": 1}))
    talk.client(request("session/new", 1, cwd="/p"))
    talk.agent(answer(1, {"sessionId": "s1"}))
    assert talk.events()[0] == SessionOpened("some-agent", None, "/p")


def test_every_change_is_recorded_and_repeats_are_not() -> None:
    """R4, R12, R13."""
    talk = Talk()
    for each in (
        plan(entry("a")),
        plan(entry("a")),
        plan(entry("b")),
        items("p", entry("c")),
        removed("p"),
        removed("p"),
    ):
        talk.agent(each)
    talk.agent(removed("unheard of"))
    talk.agent(items("p", entry("c")))
    plans = [event.plan.id if isinstance(event, PlanSet) else event for event in talk.plan_events()]
    assert plans == [None, None, "p", PlanRemoved("p"), "p"]


def test_a_difference_in_meta_alone_is_a_change() -> None:
    talk = Talk()
    for word in ("a", "b", "b"):
        talk.agent(plan(entry("a"), _meta={"by": word}))
    assert len(talk.plan_events()) == 2


@pytest.mark.parametrize("where", ["entry", "update"])
def test_a_list_that_only_counts_anew_is_no_change_and_passes_as_it_is(where: str) -> None:
    """An agent adds its statistics to each list, and sends it again after every load."""
    talk = Talk()
    for tokens in (1, 2):
        stats = {"stats": {"tokens": tokens, "apiTimeMs": tokens * 1.5}}
        said = plan({**entry("a"), "_meta": stats}) if where == "entry" else plan(entry("a"), _meta=stats)
        assert talk.agent(said) == [said]
    assert len(talk.plan_events()) == 1


def test_a_text_that_streams_in_is_one_version() -> None:
    talk = Talk(PLANS)
    for end in range(1, 12):
        talk.agent(text("p", "# The parser"[:end]))
        talk.agent(line({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}))
    talk.agent(text("p", "# Another"))
    assert [event.plan for event in talk.plan_events() if isinstance(event, PlanSet)] == [
        MarkdownPlan("p", "# The parse"),
        MarkdownPlan("p", "# Another"),
    ]


@pytest.mark.parametrize("end", ["turn", "question"])
def test_a_client_of_one_list_gets_no_half_step_of_a_text_that_streams_in(end: str) -> None:
    """R8, R28: the last step is listed before the turn ends, or the person is asked, whatever the journal does."""
    talk = Talk()
    talk.prompt()
    lines = [each for size in range(1, 24) for each in talk.agent(text("p", "- [ ] Alpha\n- [ ] Beta"[:size]))]
    question = request("session/request_permission", 9, sessionId="s1")
    lines += talk.agent(question if end == "question" else answer("p", {"stopReason": "end_turn"}))
    lists = [update_of(each)["entries"] for each in lines if b'"plan"' in each]
    assert [[each["content"] for each in entries] for entries in lists] == [["Alpha"], ["Alpha", "Beta"]]
    assert b'"plan"' in lines[-2]


def test_a_text_that_comes_outside_of_a_turn_is_whole() -> None:
    lines = Talk().agent(text("p", "- [ ] Alpha"))
    assert [each["content"] for each in update_of(lines[-1])["entries"]] == ["Alpha"]


def test_a_text_that_goes_on_in_another_turn_is_another_version() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(text("p", "# One"))
    talk.end_turn()
    talk.prompt()
    talk.agent(text("p", "# One and more"))
    assert len(talk.plan_events()) == 2


def test_the_end_of_a_turn_is_recorded() -> None:
    talk = Talk()
    talk.prompt()
    talk.agent(answer("p", {"stopReason": "cancelled"}))
    talk.prompt()
    talk.agent(refusal("p"))
    assert [event for event in talk.events() if isinstance(event, TurnEnded)] == [
        TurnEnded("cancelled"),
        TurnEnded("error"),
    ]


def test_with_prompts_in_a_queue_the_turn_ends_with_the_last_of_them() -> None:
    talk = Talk()
    talk.prompt(message_id="1")
    talk.prompt(message_id="2")
    talk.end_turn("1")
    assert TurnEnded("end_turn") not in talk.events()
    talk.end_turn("2")
    assert talk.events()[-1] == TurnEnded("end_turn")


def test_in_version_2_a_turn_ends_when_the_agent_is_idle() -> None:
    talk = Talk(version=2)
    talk.prompt()
    talk.agent(answer("p", {"messageId": "m"}))
    for state in ({"state": "running"}, {"state": "idle", "stopReason": "max_tokens"}):
        sent = line({"sessionUpdate": "state_update", **state})
        assert talk.agent(sent) == [sent]
    assert [event for event in talk.events() if isinstance(event, TurnEnded)] == [TurnEnded("max_tokens")]


def test_a_turn_that_the_end_of_the_connection_cuts_off_is_over() -> None:
    for version, said in ((1, None), (2, {"messageId": "m"})):
        talk = Talk(version=version)
        talk.prompt()
        if said:
            talk.agent(answer("p", said))
        assert talk.events()[-1] == TurnEnded("disconnected")


def test_a_session_whose_connection_ended_is_not_left_running() -> None:
    """One that was opened and never used, or whose agent said something after its turn."""
    talk = Talk()
    assert talk.events()[-1] == TurnEnded("closed")
    talk = Talk()
    talk.prompt()
    talk.end_turn()
    assert talk.events()[-1] == TurnEnded("end_turn")


def test_a_plan_that_comes_after_the_turn_is_not_left_running() -> None:
    talk = Talk()
    talk.prompt()
    talk.end_turn()
    talk.agent(plan(entry("a", "in_progress")))
    assert talk.events()[-1] == TurnEnded("closed")


def test_an_update_before_the_answer_that_names_its_session_is_of_a_new_session() -> None:
    """As mistral-vibe does it."""
    talk = Talk()
    talk.client(request("session/new", 7, cwd="/other"))
    talk.agent(plan(entry("a"), session="s2"))
    talk.agent(answer(7, {"sessionId": "s2"}))
    assert [each for each in talk.actions if isinstance(each, Meet)][-1] == Meet("s2", True, "agent 1")
    assert [type(event) for event in talk.events("s2")] == [PlanSet, SessionOpened, TurnEnded]


def test_plans_beyond_any_measure_are_not_recorded_and_that_is_said_once() -> None:
    talk = Talk(PLANS)
    for number in range(1_003):
        sent = items(f"p{number}", entry("a"))
        assert talk.agent(sent) == [both_keys(sent)]
    assert len([each for each in talk.actions if isinstance(each, Warn)]) == 1
    assert len(talk.plan_events()) == 1_000


def test_the_same_holds_for_texts_that_stream_in_and_for_history_that_is_retold() -> None:
    talk = Talk(PLANS)
    for number in range(1_003):
        talk.agent(streamed(f"p{number}", "text"))
    assert len(talk.plan_events()) == 1_000

    talk = Talk(PLANS)
    talk.client(request("session/load", 5, sessionId="s1"))
    for number in range(1_003):
        talk.agent(items(f"p{number}", entry("a")))
    talk.agent(answer(5))
    assert len(talk.plan_events()) == 1_000


# -- approvals


OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
PROPOSAL = "# Plan\n\n1. Read\n2. Write\n"


def tool_call(**fields: Any) -> bytes:
    return line({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "kind": "switch_mode", **fields})


def ask(talk: Talk, **call: Any) -> None:
    call = {"toolCallId": "t1", "name": "ExitPlanMode", "kind": "switch_mode", "rawInput": {}, "content": [], **call}
    talk.agent(request("session/request_permission", 0, sessionId="s1", toolCall=call, options=OPTIONS))


def choose(talk: Talk, option: str | None) -> None:
    outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
    sent = answer(0, {"outcome": outcome})
    assert talk.client(sent) == [sent]


YES, NO = ASKED = (Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once"))


def judged(plan_id: str, verdict: str, chosen: Choice) -> PlanReviewed:
    """The verdict of the client's answer to the first question."""
    review = PlanReviewed(plan_id, 2, verdict, question="word1")
    return replace(review, answer=chosen.name, option=chosen.id, kind=chosen.kind)


@pytest.mark.parametrize(("chosen", "verdict"), [(YES, APPROVED), (NO, CHANGES_REQUESTED)])
def test_an_answer_about_a_plan_is_a_review_of_it(chosen: Choice, verdict: str) -> None:
    """As claude-agent-acp asks: the text stood in the tool call before, and the plan is sent after the approval."""
    talk = Talk(PLANS)
    talk.agent(tool_call(rawInput={"plan": PROPOSAL}))
    ask(talk)
    choose(talk, chosen.id)
    talk.agent(text("plan-mode", PROPOSAL.strip()))
    assert talk.plan_events() == [
        PlanSet(MarkdownPlan("plan-mode", PROPOSAL.strip()), via="acp"),
        ReviewAsked("plan-mode", ASKED, "word1"),
        judged("plan-mode", verdict, chosen),
    ]


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_text_that_a_v1_client_has_seen_in_a_tool_call_is_not_said_again(is_shown: bool) -> None:
    """R9. The input of a tool call is not shown by every client, its content is."""
    talk = Talk()
    content = [{"type": "content", "content": {"type": "text", "text": PROPOSAL}}] if is_shown else []
    talk.agent(tool_call(rawInput={"plan": PROPOSAL}, content=content))
    sent = [update_of(each) for each in talk.agent(text("plan-mode", PROPOSAL.strip()))]
    said = [each["content"]["text"] for each in sent if each["sessionUpdate"] == "agent_message_chunk"]
    assert said == ([] if is_shown else [f"\n\n**Plan: plan-mode**\n\n{PROPOSAL.strip()}"])
    assert len(sent) == len(said), "no prose is in the list"
    (more,) = talk.agent(text("plan-mode", f"{PROPOSAL.strip()}\n3. Test"))
    assert update_of(more)["content"]["text"] == ("\n\n\n3. Test" if is_shown else "\n3. Test")


def test_a_plan_that_was_told_before_the_question_is_the_one_that_is_reviewed() -> None:
    talk = Talk(PLANS)
    talk.agent(text("turn-1-plan", PROPOSAL))
    ask(talk, toolCallId="plan-review:turn-1-plan", rawInput={"plan": PROPOSAL}, name="x")
    choose(talk, "yes")
    assert talk.plan_events()[1:] == [
        ReviewAsked("turn-1-plan", ASKED, "word1"),
        judged("turn-1-plan", APPROVED, YES),
    ]


def test_a_verdict_on_a_plan_that_is_still_to_come_waits_for_it() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(text("plan-mode", "# The plan of another day"))
    talk.end_turn()
    talk.prompt()
    ask(talk)
    choose(talk, "yes")
    assert [type(event) for event in talk.plan_events()] == [PlanSet]
    talk.agent(text("plan-mode", PROPOSAL))
    assert [type(event) for event in talk.plan_events()] == [PlanSet, PlanSet, ReviewAsked, PlanReviewed]


@pytest.mark.parametrize("second", ["# Plan B", PROPOSAL.strip()])
def test_a_second_question_in_a_turn_is_about_the_plan_that_comes_after_it(second: str) -> None:
    """As claude-agent-acp asks twice: the plan in between was judged, so this is about the one that comes next."""
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(tool_call(rawInput={"plan": PROPOSAL}))
    ask(talk)
    choose(talk, "no")
    talk.agent(text("plan-mode", PROPOSAL.strip()))
    ask(talk, toolCallId="t2")
    choose(talk, "yes")
    assert [type(event) for event in talk.plan_events()] == [PlanSet, ReviewAsked, PlanReviewed]
    talk.agent(text("plan-mode", second))
    events = talk.plan_events()
    last = max(at for at, event in enumerate(events) if isinstance(event, PlanSet))
    assert events[last].plan == MarkdownPlan("plan-mode", second)  # type: ignore[union-attr]
    assert [event.verdict for event in events[last:] if isinstance(event, PlanReviewed)][-1] == APPROVED


def test_version_2_asks_about_a_subject() -> None:
    """R44."""
    talk = Talk(version=2)
    talk.agent(tool_call(rawInput={"plan": PROPOSAL}))
    call = {"toolCallId": "t1", "kind": "switch_mode", "rawInput": {}}
    params = {"sessionId": "s1", "title": "?", "subject": {"type": "tool_call", "toolCall": call}, "options": OPTIONS}
    talk.agent(request("session/request_permission", 0, **params))
    choose(talk, "yes")
    assert [type(event) for event in talk.plan_events()] == [PlanSet, ReviewAsked, PlanReviewed]


@pytest.mark.parametrize("option", [None, "never offered"])
def test_only_an_option_that_was_offered_is_a_yes_or_a_no(option: str | None) -> None:
    """R43."""
    talk = Talk(PLANS)
    talk.agent(tool_call(rawInput={"plan": PROPOSAL}))
    ask(talk)
    choose(talk, option)
    assert talk.plan_events()[2:] == [PlanReviewed("plan-mode", 2, DISMISSED, question="word1")]


def test_other_questions_are_not_about_plans() -> None:
    talk = Talk(PLANS)
    talk.agent(text("plan-mode", PROPOSAL))
    ask(talk, name="EnterPlanMode")
    choose(talk, "yes")
    ask(talk, toolCallId="t2", name="Edit", kind="edit")
    choose(talk, "yes")
    assert [type(event) for event in talk.plan_events()] == [PlanSet]


# -- history retold


def load(talk: Talk, session: str = "s1", method: str = "session/load", **more: Any) -> None:
    talk.client(request(method, "l", sessionId=session, cwd="/project", mcpServers=[], **more))


def test_history_retold_adds_nothing_that_is_known() -> None:
    """R37: in any order and completeness; only its end counts."""
    talk = Talk()
    for status in ("pending", "in_progress", "completed"):
        talk.agent(plan(entry("a", status)))
    before = talk.plan_events().copy()
    load(talk)
    for each in (plan(), plan(entry("b")), plan(entry("a")), plan(entry("a", "completed"))):
        assert talk.agent(each) == [each]
    talk.agent(answer("l", None))
    assert talk.plan_events() == before


def test_history_retold_sets_its_end_once_and_plans_not_retold_stay() -> None:
    talk = Talk(PLANS)
    talk.agent(items("p", entry("a")))
    talk.agent(items("q", entry("b")))
    load(talk)
    for each in (
        items("p", entry("x")),
        removed("p"),
        items("p", entry("y")),
        streamed("r", "# T"),
        streamed("r", "!"),
    ):
        talk.agent(each)
    talk.agent(answer("l", {}))
    told = [event.plan.id for event in talk.plan_events() if isinstance(event, PlanSet)]
    assert told == ["p", "q", "p", "r"]
    assert talk.plan_events()[-1] == PlanSet(MarkdownPlan("r", "# T!"), via="acp")


def test_a_history_that_could_not_be_told_does_not_count() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    load(talk)
    talk.agent(plan(entry("x")))
    talk.agent(refusal("l"))
    assert len(talk.plan_events()) == 1


@pytest.mark.parametrize("end", ["a prompt", "the end of input"])
def test_a_prompt_or_the_end_of_input_ends_the_telling(end: str) -> None:
    talk = Talk()
    load(talk, "old")
    talk.agent(plan(entry("x"), session="old"))
    talk.agent(plan(entry("y"), session="old"))
    if end == "a prompt":
        talk.prompt(session="old")
    assert len(talk.plan_events("old")) == 1


@pytest.mark.parametrize("more", [{"replayFrom": {"type": "start"}}, {}], ids=["asked for", "not asked for"])
def test_what_an_agent_tells_before_it_answers_a_resume_is_history(more: JSON) -> None:
    """R39, R40. Some agents retell though nobody asked (R38)."""
    talk = Talk(version=2)
    load(talk, "old", "session/resume", **more)
    talk.agent(items("p", entry("a"), session="old"))
    talk.agent(items("p", entry("b"), session="old"))
    talk.agent(line({"sessionUpdate": "state_update", "state": "idle"}, "old"))
    talk.agent(answer("l", {}))
    assert len(talk.plan_events("old")) == 1


def test_a_client_that_loads_a_session_is_told_texts_again() -> None:
    """R37, for a client that knows only lists."""
    talk = Talk()
    assert "# A" in str(talk.agent(text("p", "# A")))
    assert talk.agent(text("p", "# A")) == []
    load(talk)
    assert "# A" in str(talk.agent(text("p", "# A")))


# -- compactions


def test_a_compaction_is_recorded_once_whichever_way_it_shows() -> None:
    talk = Talk()
    for used in (1000, 900, 1000):
        talk.agent(line({"sessionUpdate": "usage_update", "used": used, "size": 2000}))
    done = line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"})
    talk.agent(done)
    talk.agent(done)
    for used in (400, 100):  # the first is an estimate, the other comes with the next turn
        talk.agent(line({"sessionUpdate": "usage_update", "used": used, "size": 2000}))
        talk.prompt()
    assert talk.plan_events() == [ContextCompacted(reason="reported by the agent")]
    talk.agent(line({"sessionUpdate": "usage_update", "used": 49, "size": 2000}))
    assert talk.plan_events()[1:] == [ContextCompacted(reason="the used context fell from 100 to 49")]


@pytest.mark.parametrize("unnamed", [{}, {"compactionId": ""}, {"compactionId": None}])
def test_compactions_without_an_id_are_not_one(unnamed: JSON) -> None:
    talk = Talk()
    for _ in range(2):
        talk.agent(line({"sessionUpdate": "compaction_update", "status": "completed", **unnamed}))
    assert talk.plan_events() == [ContextCompacted(reason="reported by the agent")] * 2


@pytest.mark.parametrize("status", ["in_progress", "failed", "cancelled"])
def test_a_compaction_that_is_not_completed_is_none(status: str) -> None:
    talk = Talk()
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": status}))
    assert talk.plan_events() == []


def test_lines_are_sent_to_the_other_side_only() -> None:
    policy = Policy("agent", lambda: "w")
    for line_ in (b"x\n", initialize() + b"\n", request("session/prompt", 1, sessionId="s", prompt=[]) + b"\n"):
        assert all(not isinstance(action, ToClient) for action in policy.from_client(line_))
        assert all(not isinstance(action, ToAgent) for action in policy.from_agent(line_))


# -- plan files


def test_a_plan_file_is_read_in_the_folder_of_its_session_for_a_client_without_plans() -> None:
    """R8, R9."""
    talk = Talk()
    talk.files["file:///project/plan.md", "/project"] = "- [x] read\n- [ ] write\n"
    address, sent = talk.agent(file("f", "file:///project/plan.md"))
    assert update_of(address)["content"]["text"] == "\n\nPlan file: file:///project/plan.md"
    assert [(each["content"], each["status"]) for each in update_of(sent)["entries"]] == [
        ("read", "completed"),
        ("write", "pending"),
    ]
    assert talk.state().plans["f"].state.plan.kind == "file"  # the journal has what the agent said
    assert not talk.state().plans["f"].state.steps


def test_a_plan_file_goes_to_a_client_with_plans_as_it_is() -> None:
    """R24, R46: byte for byte."""
    talk = Talk(PLANS)
    talk.files["file:///project/plan.md", "/project"] = "- [x] read\n"
    sent = file("f", "file:///project/plan.md").replace(b'"planId":"f"', b'"planId" : "f", "id":"f"')
    assert talk.agent(sent) == [sent]


def test_a_session_that_was_loaded_elsewhere_has_the_folder_that_the_journal_knows() -> None:
    talk = Talk()
    talk.prompt(session="old")
    opened = Recorded("old", 1, 0, "relay", SessionOpened(cwd="/before"))
    talk.know(learn(begin("old"), opened))
    talk.files["file:///before/plan.md", "/before"] = "- [ ] write\n"
    _, sent = talk.agent(file("f", "file:///before/plan.md").replace(b'"s1"', b'"old"'))
    assert [each["content"] for each in update_of(sent)["entries"]] == ["write"]


def test_a_batch_with_half_an_emoji_in_it_is_translated_and_recorded_all_the_same() -> None:
    """R34, R36: one message that is not quite JSON costs nothing of the others."""
    for capabilities in ({}, PLANS):
        talk = Talk(capabilities)
        batch = b"[" + items("p", entry("a?")).replace(b"?", b"\\ud800") + b"," + items("q", entry("b")) + b"]"
        (sent,) = talk.agent(batch)
        assert [each["params"]["update"]["sessionUpdate"] for each in json.loads(sent)] == (
            ["plan_update"] * 2 if capabilities else ["plan"] * 2
        )
        assert [event.plan.id for event in talk.plan_events() if isinstance(event, PlanSet)] == ["p", "q"]


# -- a client that has one list and a chat


def spoken(content: str) -> bytes:
    return line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": content}})


def chat(sent: list[bytes]) -> str:
    updates = map(update_of, sent)
    return "".join(each["content"]["text"] for each in updates if each["sessionUpdate"] == "agent_message_chunk")


def test_words_of_the_agent_stand_apart_from_the_text_of_a_plan_before_them() -> None:
    """R9. Lines with words matter to the relay only while such a text is open."""
    talk = Talk()
    assert talk.policy.words_of_agent() == ()
    sent = talk.agent(text("p", "First the lexer."))
    assert talk.policy.words_of_agent() == (b'"agent_message_chunk"',)
    for said in ("I start ", "now."):
        sent += talk.agent(spoken(said))
        assert talk.policy.words_of_agent() == ()
    assert chat(sent) == "\n\n**Plan: p**\n\nFirst the lexer.\n\nI start now."
    talk.agent(text("p", "First the parser."))
    talk.prompt()
    assert talk.agent(spoken("Well.")) == [spoken("Well.")]


def propose(talk: Talk, plan_id: str, content: str, option: str) -> None:
    """An agent sends a proposal and asks about it, and a person chooses."""
    talk.agent(text(plan_id, content))
    ask(talk, toolCallId=f"plan-review:{plan_id}", rawInput={"plan": content}, name=plan_id)
    choose(talk, option)
    talk.learn()


def shown(talk: Talk) -> list[list[str]]:
    """The lists that the relay sends by itself."""
    sent = [each.data for each in talk.policy.for_client() if isinstance(each, ToClient)]
    return [[each["content"] for each in update_of(line_)["entries"]] for line_ in sent]


def test_the_boxes_of_a_proposal_are_in_the_list_of_a_v1_client_while_it_lives() -> None:
    """R8, R9."""
    talk = Talk()
    talk.prompt()
    propose(talk, "one", "# One\n\n- [ ] a", "no")
    assert shown(talk) == [[]]
    propose(talk, "two", "# Two\n\n- [ ] b", "yes")
    assert shown(talk) == []
    assert [each["content"] for each in update_of(talk.agent(plan(entry("c")))[0])["entries"]] == ["Two: b", "Plan: c"]
    talk.learn()
    talk.agent(plan(entry("c", "completed")))
    talk.learn()
    assert shown(talk) == [["c"]]
    assert talk.agent(plan()) == [plan()]


# -- lines that are too long to be read


def test_a_plan_on_a_line_that_is_too_long_to_be_read_leaves_a_gap() -> None:
    talk = Talk()
    beginning = plan(entry("x" * 100))[:150]
    actions = talk.policy.hear_beginning(beginning)
    assert actions == [Record("s1", Gap(1, "a line with a plan had more than 16 MiB"), BY_RELAY)]
    meeting, gap = talk.policy.hear_beginning(beginning.replace(b"s1", b"s2"))
    assert (meeting, gap) == (Meet("s2", False, "agent 1"), replace(actions[0], session="s2"))


def test_a_plan_of_no_known_session_is_named_in_the_log_and_a_text_is_none() -> None:
    talk = Talk()
    beginning = b'{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{"content":"'
    assert talk.policy.hear_beginning(beginning) == [
        Warn("a line with a plan had more than 16 MiB, and was not recorded")
    ]
    quoted = line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": beginning.decode()}})
    assert talk.policy.hear_beginning(quoted) == []
