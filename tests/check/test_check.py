"""The rules of `planwire check`: for each, traffic that keeps it and traffic that breaks it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.acp import DIALECTS
from planwire.check import ERROR, RULES, WARNING, Checker, Finding, Verdict
from planwire.cli.recording import read_recording
from tests.wire import answer, entry, items, line, plan, refusal, removed, request, streamed, text

FOLDER = Path(__file__).parents[1] / "conversations"
ROOT = Path(__file__).parents[2]

Said = tuple[str, bytes]
NONE: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
RFD: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {"planCapabilities": {}}}
DRAFT: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {"plan": {}}}
V2: dict[str, Any] = {"protocolVersion": 2, "capabilities": {}}
LIVELY = (entry("a", priority="high"), entry("b"), entry("c"))


def client(sent: bytes) -> Said:
    return "client", sent


def agent(*sent: bytes) -> list[Said]:
    return [("agent", each) for each in sent]


def greeting(hello: dict[str, Any]) -> list[Said]:
    version = hello["protocolVersion"]
    says = {"protocolVersion": version, "capabilities" if version == 2 else "agentCapabilities": {}}
    opened = [client(request("initialize", 1, **hello)), *agent(answer(1, says))]
    return [*opened, client(request("session/new", 2, cwd="/")), *agent(answer(2, {"sessionId": "s1"}))]


def turn(*sent: bytes, hello: dict[str, Any] = NONE, reason: str = "end_turn", number: int = 3) -> list[Said]:
    prompt = client(request("session/prompt", number, sessionId="s1", prompt=[]))
    if hello["protocolVersion"] == 2:
        idle = line({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
        return [prompt, *agent(answer(number, {"messageId": "m"}), *sent, idle)]
    return [prompt, *agent(*sent, answer(number, {"stopReason": reason}))]


def talk(*sent: bytes, hello: dict[str, Any] = NONE, reason: str = "end_turn") -> Verdict:
    """A whole connection in which the agent sends this in its only turn."""
    return judged([*greeting(hello), *turn(*sent, hello=hello, reason=reason)])


def judged(said: list[Said]) -> Verdict:
    checker = Checker()
    for sender, sent in said:
        checker.hear(sent, sender)
    return checker.close()


def found(verdict: Verdict) -> list[tuple[str, str]]:
    return [(finding.rule, finding.code) for finding in verdict.findings]


def named(verdict: Verdict, code: str) -> Finding:
    return next(finding for finding in verdict.findings if finding.code == code)


def call(title: str = "edit", **fields: Any) -> bytes:
    return line({"sessionUpdate": "tool_call", "toolCallId": "t", "title": title, **fields})


# Everything that an agent may do


def test_an_agent_that_keeps_every_rule_has_no_findings() -> None:
    """R2, R3, R5, R6, R7: complete lists, told as they change, with priorities; entries come and go."""
    at_work = entry("Reading the code", "in_progress", "high")
    verdict = talk(
        plan(entry("Read the code", priority="high"), entry("Write it"), entry("Drop it", priority="low")),
        plan(at_work, entry("Write it"), entry("Drop it", priority="low")),
        plan(entry("Read the code", "completed", "high"), entry("Write it", "in_progress"), _meta={"mine": 1}),
        plan(
            entry("Read the code", "completed", "high"), entry("Write it", "completed"), entry("Test it", "completed")
        ),
        plan(),
    )
    assert verdict == Verdict((), 5, 1, "v1", driven={"prompt": True})
    assert verdict.passes(strict=True)


def test_an_identified_plan_in_each_dialect_is_as_it_should_be() -> None:
    """R8, R11, R12, R13, R18, R19, R25: items, text, file and removal, named as the client reads it."""
    fields = {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "f", "uri": "file:///p.md"}}
    for hello in (DRAFT, V2):
        sent = (items("p", *LIVELY), text("t", "# Plan"), line(fields), removed("p"), removed("t"))
        assert found(talk(*sent, hello=hello)) == []
    custom = {"sessionUpdate": "plan_update", "plan": {"type": "_tree", "planId": "t", "nodes": []}}
    open_words = items("p", entry("a", "_blocked", "_urgent"), entry("b", "cancelled"), entry("c"))
    assert found(talk(open_words, line(custom), hello=V2)) == []
    assert found(talk(items("p", *LIVELY, key="id"), removed("p", key="id"), hello=RFD)) == []


def test_both_spellings_of_one_id_are_no_fault() -> None:
    both = {"type": "items", "planId": "p", "id": "p", "entries": [entry("a")]}
    for hello in (RFD, DRAFT, V2):
        assert found(talk(line({"sessionUpdate": "plan_update", "plan": both}), hello=hello)) == []


# The shape of lines and plans


def update(**plan_fields: Any) -> bytes:
    return line({"sessionUpdate": "plan_update", "plan": plan_fields})


@pytest.mark.parametrize(
    ("sent", "hello", "rule", "code", "where"),
    [
        pytest.param(b"Starting up ...", NONE, "R35", "not-json", "", id="text on standard output"),
        pytest.param(b'"hello"', NONE, "R35", "not-a-message", "", id="JSON that is no message"),
        pytest.param(
            plan(entry("HALF")).replace(b"HALF", b"\\ud83d"), NONE, "R34", "not-quite-json", "", id="half an emoji"
        ),
        pytest.param(plan().replace(b'"jsonrpc":"2.0",', b""), NONE, "R35", "not-json-rpc", "jsonrpc", id="no jsonrpc"),
        pytest.param(b"[" + plan() + b"]", NONE, "R34", "batch-in-v1", "", id="a batch in version 1"),
        pytest.param(b"[]", V2, "R36", "empty-batch", "", id="an empty batch"),
        pytest.param(
            line({"sessionUpdate": "plan"}), NONE, "R6", "entries-not-a-list", "params.update.entries", id="no entries"
        ),
        pytest.param(
            update(type="items", planId="p", entries={"a": 1}),
            V2,
            "R6",
            "entries-not-a-list",
            "params.update.plan.entries",
            id="entries that are no list",
        ),
        pytest.param(plan("a"), NONE, "R6", "entry-not-an-object", "params.update.entries[0]", id="a bare text"),
        pytest.param(
            plan({"priority": "low", "status": "pending"}),
            NONE,
            "R6",
            "no-content",
            "params.update.entries[0].content",
            id="no content",
        ),
        pytest.param(
            plan({"content": "a", "status": "pending"}),
            NONE,
            "R6",
            "no-priority",
            "params.update.entries[0].priority",
            id="no priority",
        ),
        pytest.param(
            plan({"content": "a", "priority": "low"}),
            NONE,
            "R6",
            "no-status",
            "params.update.entries[0].status",
            id="no status",
        ),
        pytest.param(
            plan(entry("a"), entry("b", "done")),
            NONE,
            "R7",
            "unknown-status",
            "params.update.entries[1].status",
            id="a status that version 1 has not",
        ),
        pytest.param(
            plan(entry("a", priority="urgent")),
            NONE,
            "R7",
            "unknown-priority",
            "params.update.entries[0].priority",
            id="a priority that version 1 has not",
        ),
        pytest.param(
            items("p", entry("a", "cancelled")),
            DRAFT,
            "R7",
            "unknown-status",
            "params.update.plan.entries[0].status",
            id="cancelled in an identified plan of version 1",
        ),
        pytest.param(
            items("p", entry("a", "blocked")),
            V2,
            "R19",
            "unknown-status",
            "params.update.plan.entries[0].status",
            id="a word of one's own without an underscore",
        ),
        pytest.param(
            line({"sessionUpdate": "plan_update", "plan": None}),
            V2,
            "R22",
            "no-plan",
            "params.update.plan",
            id="no plan",
        ),
        pytest.param(
            update(type="markdown", planId="p"),
            V2,
            "R22",
            "content-not-text",
            "params.update.plan.content",
            id="a text without content",
        ),
        pytest.param(
            update(type="file", planId="p"),
            V2,
            "R22",
            "uri-not-text",
            "params.update.plan.uri",
            id="a file without uri",
        ),
        pytest.param(
            update(type="file", planId="p", uri="plan.md"),
            V2,
            "R25",
            "uri-not-absolute",
            "params.update.plan.uri",
            id="a relative uri",
        ),
        pytest.param(
            update(planId="p", entries=[]), V2, "R22", "no-plan-type", "params.update.plan.type", id="no type"
        ),
        pytest.param(
            update(type="items", entries=[]), DRAFT, "R11", "no-plan-id", "params.update.plan.planId", id="no id, v1"
        ),
        pytest.param(
            update(type="_tree"), V2, "R18", "no-plan-id", "params.update.plan.planId", id="no id, custom type, v2"
        ),
        pytest.param(
            update(type="items", planId=7, entries=[]),
            V2,
            "R18",
            "bad-plan-id",
            "params.update.plan.planId",
            id="an id that is a number",
        ),
        pytest.param(
            update(type="items", planId="p", id="q", entries=[]),
            DRAFT,
            "R11",
            "two-plan-ids",
            "params.update.plan.id",
            id="two ids",
        ),
        pytest.param(
            line({"sessionUpdate": "plan_removed"}),
            DRAFT,
            "R11",
            "no-plan-id",
            "params.update.planId",
            id="a removal without id",
        ),
        pytest.param(plan(entry("a")), V2, "R29", "removed-update", "params.update", id="plan in version 2"),
        pytest.param(
            plan(entry("a", _meta=1)), NONE, "schema", "bad-meta", "params.update.entries[0]._meta", id="odd _meta"
        ),
        pytest.param(
            line({"sessionUpdate": "plan", "entries": []}, session=None),  # type: ignore[arg-type]
            NONE,
            "schema",
            "bad-session",
            "params.sessionId",
            id="no session",
        ),
    ],
)
def test_a_plan_of_the_wrong_shape_is_an_error(
    sent: bytes, hello: dict[str, Any], rule: str, code: str, where: str
) -> None:
    """R6, R7, R11, R18, R19, R22, R25, R29, R34, R35, R36."""
    verdict = talk(sent, hello=hello)
    assert found(verdict) == [(rule, code)]
    [finding] = verdict.findings
    assert (finding.level, finding.where, finding.line) == (ERROR, where, 7 if hello is V2 else 6)
    assert not verdict.passes()


@pytest.mark.parametrize("hello", [NONE, RFD, DRAFT])
def test_a_relative_uri_breaks_no_rule_of_version_1(hello: dict[str, Any]) -> None:
    """R25 is of version 2."""
    verdict = talk(update(type="file", planId="p", id="p", uri="plan.md"), hello=hello)
    assert "uri-not-absolute" not in {code for _, code in found(verdict)}


def test_a_finding_shows_what_was_found_and_not_how_planwire_dealt_with_it() -> None:
    assert named(talk(b"hello; it works"), "not-json").message.endswith(": hello; it works")
    verdict = talk(plan({"content": "a", "priority": "x; it is no status", "status": 3}))
    assert named(verdict, "no-status").message == "expected a status, found 3"
    assert named(verdict, "unknown-priority").message == (
        "'x; it is no status' is not a v1 priority: other readers drop this entry"
    )


def test_what_is_too_much_to_look_into_is_said() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    long_list = [entry(str(number), priority=("high", "low")[number % 2]) for number in range(20_001)]
    padded = plan().ljust(64 * 1024 * 1024 + 1)
    verdict = talk(plan(*long_list), plan(entry("a"), _meta={"deep": deep}), padded)
    assert [code for _, code in found(verdict)] == ["too-many-entries", "too-deep", "line-too-long"]
    assert verdict.passes()


# What may be sent to this client


def test_operations_need_the_capability_in_version_1() -> None:
    """R8, R9."""
    verdict = talk(items("p", *LIVELY), text("t", "x"), removed("p"))
    assert found(verdict) == [("R8", "unasked-operation"), ("R8", "unasked-operation")]
    first, second = verdict.findings
    assert (first.times, first.lines, first.plan) == (2, (6, 7), "p")
    assert "plan_removed" in second.message


@pytest.mark.parametrize("word", [True, None, [], "yes"])
def test_what_is_no_object_is_no_capability(word: Any) -> None:
    """R10, R15."""
    hello = {"protocolVersion": 1, "clientCapabilities": {"plan": word}}
    assert found(talk(items("p", *LIVELY), hello=hello)) == [("R8", "unasked-operation")]


def test_the_answered_version_decides() -> None:
    """R30: an agent of version 1 answers a client of version 2 with 1, and the client announced nothing for 1."""
    said = [client(request("initialize", 1, **V2)), *agent(answer(1, {"protocolVersion": 1}), items("p", *LIVELY))]
    assert ("R8", "unasked-operation") in found(judged(said))


@pytest.mark.parametrize(
    ("hello", "key", "rule"),
    [(RFD, "planId", "R11"), (V2, "id", "R18")],
    ids=["rfd", "v2"],
)
def test_the_id_is_where_the_client_looks_for_it(hello: dict[str, Any], key: str, rule: str) -> None:
    """R11, R18: SDKs refuse an update with the other spelling."""
    verdict = talk(items("p", *LIVELY, key=key), removed("p", key=key), hello=hello)
    assert found(verdict) == [(rule, "misspelled-id")]
    assert verdict.findings[0].where == f"params.update.plan.{key}"
    assert verdict.findings[0].times == 2


def test_a_draft_that_spells_the_id_as_it_was_is_advised_to_follow() -> None:
    """R11: `id` was right for this capability until `planId` came, and lenient readers take both."""
    verdict = talk(items("p", *LIVELY, key="id"), removed("p", key="id"), hello=DRAFT)
    assert found(verdict) == [("R11", "former-id")]
    assert (verdict.findings[0].level, verdict.findings[0].times, verdict.passes()) == (WARNING, 2, True)


@pytest.mark.parametrize("key", ["id", "planId", "timestamp"])
def test_a_list_of_version_1_has_no_fields_but_its_own(key: str) -> None:
    """R31: the baseline `plan` has no id, whatever its spelling."""
    verdict = talk(plan(*LIVELY, **{key: "p"}))
    assert found(verdict) == [("R31", "foreign-field")]
    assert verdict.findings[0].where == f"params.update.{key}"


@pytest.mark.parametrize(
    ("hello", "kind", "rule"), [(V2, "tree", "R19"), (DRAFT, "tree", "R7"), (DRAFT, "_tree", "R7")]
)
def test_kinds_of_plans_are_those_of_the_protocol(hello: dict[str, Any], kind: str, rule: str) -> None:
    """R19, R20: only version 2 has custom kinds, and they start with an underscore."""
    assert found(talk(update(type=kind, planId="p"), hello=hello)) == [(rule, "unknown-kind")]


def test_a_plan_update_that_nobody_knows_is_an_error() -> None:
    """R19, R20."""
    assert found(talk(line({"sessionUpdate": "plan_delta", "entries": []}))) == [("R19", "unknown-update")]
    assert found(talk(line({"sessionUpdate": "_plan_delta"}), line({"sessionUpdate": "usage_update"}))) == []


def test_fields_of_ones_own_belong_into_meta() -> None:
    """R31."""
    sent = line({"sessionUpdate": "plan", "entries": [entry("a", id="1"), entry("b", id="2")], "timestamp": 1}, took=3)
    verdict = talk(sent)
    assert found(verdict) == [("R31", "foreign-field")] * 3
    assert {finding.where: finding.times for finding in verdict.findings} == {
        "params.took": 1,
        "params.update.timestamp": 1,
        "params.update.entries[0].id": 2,
    }
    extra = {"sessionUpdate": "plan_removed", "planId": "p", "reason": "done"}
    assert ("R31", "foreign-field") in found(talk(items("p", *LIVELY), line(extra), hello=DRAFT))


def test_only_a_plan_that_there_is_can_be_removed() -> None:
    """R13. The plan may be older than the recording, and then there is no telling."""
    verdict = talk(items("p", *LIVELY), removed("p"), removed("p"), hello=DRAFT)
    assert found(verdict) == [("R13", "unknown-removal")]
    assert verdict.findings[0].level == WARNING
    resumed = [*greeting(DRAFT), client(request("session/resume", 9, sessionId="s1")), *agent(answer(9, {}))]
    assert found(judged([*resumed, *turn(removed("p"), hello=DRAFT)])) == []
    assert found(judged(agent(removed("p")))) == []


def test_text_comes_in_pieces_only_to_who_asked_for_it() -> None:
    """R12: each update replaces the plan."""
    assert found(talk(streamed("p", "more"), hello=V2)) == [("R12", "text-in-meta")]
    asks = {"protocolVersion": 2, "capabilities": {"_meta": {"jetbrains": {"air": {"planContentDelta": True}}}}}
    assert found(talk(streamed("p", "more"), hello=asks)) == []


def test_updates_of_a_cancelled_turn_come_before_its_answer() -> None:
    """R42."""
    cancel = client(json.dumps({"method": "session/cancel", "params": {"sessionId": "s1"}}).encode())
    begun = turn(plan(*LIVELY), reason="cancelled")
    cancelled = [*greeting(NONE), *begun[:2], cancel, *agent(plan(entry("a"))), *begun[2:]]
    assert found(judged(cancelled)) == []
    assert found(judged([*cancelled, *agent(plan(entry("a", "completed")))])) == [("R42", "after-cancel")]
    assert found(judged([*cancelled, *turn(plan(entry("a", "completed")), number=4)])) == []


@pytest.mark.parametrize("tag", ["compaction_update", "compaction_summary_chunk"])
def test_compactions_are_told_to_who_asked_for_them(tag: str) -> None:
    """R51."""
    sent = line({"sessionUpdate": tag, "compactionId": "c"})
    asks = {"protocolVersion": 1, "clientCapabilities": {"session": {"compaction": {}}}}
    assert found(talk(sent)) == [("R51", "unasked-compaction")]
    assert found(talk(sent, hello=asks)) == []
    assert found(talk(sent, hello=V2)) == []
    spelled_as_in_2 = {"protocolVersion": 1, "capabilities": {"session": {"compaction": {}}}}
    assert found(talk(sent, hello=spelled_as_in_2)) == [("R51", "unasked-compaction")]


def test_an_agent_speaks_the_version_that_it_answers() -> None:
    """R30."""
    said = [client(request("initialize", 1, **V2)), *agent(answer(1, {"protocolVersion": 2, "agentCapabilities": {}}))]
    assert found(judged(said)) == [("R30", "two-versions")]


def test_plans_belong_to_a_session_that_the_client_knows() -> None:
    """R53: the agent announces a child session first."""
    stray = plan(entry("a"), session="other")
    told = line({"sessionUpdate": "subagent_update", "sessionId": "other"})
    assert found(talk(stray)) == [("R53", "unknown-session")]
    assert found(talk(told, stray)) == []
    assert found(judged(agent(stray))) == []  # only the agent's side was recorded


def test_sessions_without_a_plan_are_sessions_too() -> None:
    assert (talk().updates, talk().sessions) == (0, 1)
    assert talk(plan(*LIVELY)).sessions == 1


def test_an_agent_goes_by_its_title_as_everywhere() -> None:
    about = {"name": "@example/toy-acp", "title": "Toy", "version": "1.2"}
    said = [client(request("initialize", 1, **NONE)), *agent(answer(1, {"protocolVersion": 1, "agentInfo": about}))]
    assert judged(said).agent == "Toy 1.2"


# Plans over time


def test_an_unfinished_entry_that_is_left_out_and_comes_back_was_never_gone() -> None:
    """R3, R17: the agent sends what changed, or an empty list for no reason."""
    a, b, c = (entry(word) for word in ("Read", "Write", "Test"))
    deltas = (plan(a, b, c), plan(entry("Read", "completed", "high")), plan(entry("Write", "completed")))
    verdict = talk(*deltas)
    assert found(verdict)[0] == ("R3", "left-out")
    assert (verdict.findings[0].line, verdict.findings[0].level) == (7, ERROR)
    blinking = (items("p", a, b, c), items("p"), items("p", a, b, c))
    assert found(talk(*blinking, hello=V2))[0] == ("R17", "left-out")


def test_entries_may_come_and_go_between_updates() -> None:
    """R5."""
    a, b, c = entry("Read", priority="high"), entry("Write"), entry("Test")
    assert found(talk(plan(a, b, c), plan(a, b), plan(a, b, entry("Ship")))) == []
    assert found(talk(plan(a, b, c), plan(), plan(entry("Another", priority="high"), entry("thing")))) == []


def test_a_list_that_shrinks_to_the_entry_that_changed_is_suspicious() -> None:
    """R3, R17: entries may go (R5), so it is a warning; with others in their place it is another plan."""
    a, b, c = entry("Read", priority="high"), entry("Write"), entry("Test")
    begun = entry("Read", "in_progress", "high"), entry("Read", "completed", "high")
    verdict = talk(plan(a, b, c), *(plan(each) for each in begun))
    assert found(verdict) == [("R3", "shrunk")]
    assert (verdict.findings[0].level, verdict.findings[0].line) == (WARNING, 7)
    assert found(talk(items("p", a, b, c), items("p", begun[1]), hello=V2)) == [("R17", "shrunk")]
    for harmless in (
        (plan(a, b, c), plan(begun[1], b)),
        (plan(a, b, c), plan(begun[1], entry("Ship"))),
        (plan(a, b, c), plan(begun[1]), plan(begun[1], entry("Ship"))),
        (plan(begun[1], entry("Write", "completed"), c), plan(begun[1], entry("Write", "completed"))),
        (plan(a, b, c), plan()),
    ):
        assert found(talk(*harmless)) == []


def test_what_was_left_out_in_one_turn_may_come_back_in_the_next() -> None:
    """R5: that is a new plan."""
    a, b = entry("Read", priority="high"), entry("Write")
    assert found(judged([*greeting(NONE), *turn(plan(a, b), plan()), *turn(plan(a, b), number=4)])) == []


def test_a_plan_that_follows_a_removed_one_has_no_entries_of_it() -> None:
    """R13: within one turn, under the same id, and with step ids that begin again."""
    first, second = LIVELY, (entry("w", priority="high"), entry("x"), entry("y"))
    shrunk = items("main", *first), items("main", *first[:1]), removed("main")
    for then in (second, second[:1]):
        assert found(talk(*shrunk, items("main", *then), hello=V2)) == []


def test_a_finding_in_a_batch_says_which_message_it_is_in() -> None:
    """R36."""
    a, b = entry("a", priority="high"), entry("b")
    good, bad = items("p", a, b), items("p", {**a, "mine": 1}, b, entry(""), mine=1)
    batch = b"[" + good + b"," + bad + b"]"
    foreign = line({"sessionUpdate": "plan_removed", "planId": "q", "mine": 1}, mine=1)
    verdict = talk(batch, b"[" + good + b"," + foreign + b"]", hello=V2)
    assert [(each.code, each.where) for each in verdict.findings] == [
        ("foreign-field", "[1].params.update.plan.mine"),
        ("foreign-field", "[1].params.update.plan.entries[0].mine"),
        ("foreign-field", "[1].params.update.mine"),
        ("foreign-field", "[1].params.mine"),
        ("long-winded", "[1].params.update.plan.entries[2].content"),
        ("unknown-removal", "[1].params.update.planId"),
    ]


def test_several_entries_that_are_done_at_once_were_told_late() -> None:
    """R2: updates come as status changes occur."""
    begun = plan(entry("a", "in_progress", "high"), entry("b"), entry("c"))
    done = plan(*(entry(each["content"], "completed", each["priority"]) for each in LIVELY))
    assert found(talk(plan(*LIVELY), begun, done)) == [("R2", "told-late")]
    assert found(talk(done)) == [("R2", "told-late")]
    two = entry("b", "completed"), entry("c")
    assert found(talk(begun, plan(entry("a", "completed", "high"), *two))) == []


def test_a_history_that_is_retold_is_not_told_late() -> None:
    """R37: a replay may consist of the final state alone."""
    done = plan(*(entry(each["content"], "completed", each["priority"]) for each in LIVELY))
    loaded = [client(request("session/load", 5, sessionId="s1")), *agent(plan(*LIVELY), done, answer(5))]
    assert found(judged([*greeting(NONE), *loaded])) == []


def test_with_too_much_in_progress_nobody_sees_what_is_going_on() -> None:
    three = [entry(word, "in_progress", "high") for word in "abc"]
    idle = plan(*LIVELY, entry("d"))
    assert found(talk(plan(*three, entry("d")), idle)) == []
    assert found(talk(plan(*three, entry("d", "in_progress")), idle)) == [("practice", "crowded")]


def test_entries_are_concise() -> None:
    assert found(talk(plan(entry("x" * 200)))) == []
    verdict = talk(plan(entry("x" * 201), entry("a\nb", priority="high"), entry(" ")))
    assert found(verdict) == [("practice", "long-winded")] * 3
    assert verdict.passes()
    assert not verdict.passes(strict=True)


def test_priorities_are_used() -> None:
    verdict = talk(plan(entry("a"), entry("b"), entry("c")))
    assert found(verdict) == [("practice", "unranked")]
    assert "'medium'" in verdict.findings[0].message
    assert found(talk(plan(entry("a"), entry("b")))) == []


def test_what_is_finished_is_said_before_the_turn_ends() -> None:
    """R2."""
    working = plan(entry("a", "in_progress"))
    assert found(talk(working)) == [("R2", "unfinished-business")]
    assert found(talk(working, hello=NONE, reason="cancelled")) == []
    assert found(talk(items("p", entry("a", "in_progress")), hello=V2)) == [("R2", "unfinished-business")]
    later = [*greeting(NONE), *turn(plan(entry("a"))), *turn(number=4)]
    assert found(judged(later)) == []


def test_finished_entries_stay_on_the_list() -> None:
    """R3: otherwise people never see that the agent finished them."""
    a, b, c = ("a", "high"), ("b", "medium"), ("c", "low")

    def left(*rest: tuple[str, str]) -> bytes:
        (first, priority), *others = rest
        return plan(entry(first, "in_progress", priority), *(entry(text, priority=rank) for text, rank in others))

    assert found(talk(left(a, b, c), left(b, c), left(c), plan())) == [("R3", "never-completed")]


def test_a_plan_that_stands_still_while_the_work_goes_on_is_not_kept_up() -> None:
    """R2."""
    assert found(talk(plan(*LIVELY), *[call()] * 5)) == [("R2", "not-kept-up")]
    assert found(talk(plan(*LIVELY), *[call()] * 4)) == []
    assert found(talk(*[call()] * 9, plan(*LIVELY))) == []


def test_a_list_that_the_model_writes_is_reported() -> None:
    """R1."""
    todos = call("todowrite", rawInput={"todos": [{"content": "a", "status": "pending"}]})
    steps = call("update_plan", rawInput={"plan": [{"step": "a", "status": "pending"}]})
    for made in (todos, steps):
        assert found(talk(made)) == [("R1", "not-reported")]
        assert found(talk(made, plan(entry("a")))) == []
    assert found(talk(call("todoread", rawInput={"todos": []}), call("edit", rawInput={"plan": "b"}))) == []


@pytest.mark.parametrize(("chosen", "codes"), [("yes", [("R1", "not-reported")]), ("no", [])])
def test_a_plan_that_is_approved_is_reported(chosen: str, codes: list[tuple[str, str]]) -> None:
    """R1, R9: a client without the capability has a right to see it too."""
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    switch = {"toolCallId": "t", "title": "Ready to code?", "kind": "switch_mode", "rawInput": {"plan": "# Plan"}}
    asked = request("session/request_permission", 0, sessionId="s1", toolCall=switch, options=options)
    reply = answer(0, {"outcome": {"outcome": "selected", "optionId": chosen}})
    prompt, end = turn()
    assert found(judged([*greeting(NONE), prompt, *agent(asked), client(reply), end])) == codes


# History that is retold


def loaded(*sent: bytes, method: str = "session/load", **params: Any) -> list[Said]:
    return [client(request(method, 8, sessionId="s1", **params)), *agent(*sent, answer(8))]


def test_what_is_loaded_includes_the_plan_as_it_was() -> None:
    """R37."""
    live = [*greeting(NONE), *turn(plan(*LIVELY))]
    assert found(judged([*live, *loaded(plan(*LIVELY))])) == []
    assert found(judged([*live, *loaded()])) == [("R37", "not-retold")]
    assert found(judged([*live, *loaded(plan(entry("a")))])) == [("R37", "retold-otherwise")]
    emptied = [*greeting(NONE), *turn(plan(*LIVELY), plan())]
    assert found(judged([*emptied, *loaded()])) == []
    failed = [client(request("session/load", 8, sessionId="s1")), *agent(refusal(8))]
    assert found(judged([*live, *failed])) == []


@pytest.mark.parametrize(
    ("told", "retold"),
    [
        ({"type": "markdown", "content": "# x"}, {"content": "# y"}),
        ({"type": "file", "uri": "file:///x.md"}, {"uri": "file:///y.md"}),
        ({"type": "_tree", "nodes": [1]}, {"nodes": [2]}),
        ({"type": "_tree", "nodes": [1]}, {"type": "_list"}),
    ],
    ids=str,
)
def test_what_is_loaded_is_compared_as_people_see_it(told: dict[str, Any], retold: dict[str, Any]) -> None:
    """R39: whatever its type. What is meant for programs may differ."""
    sent = {"planId": "p", **told}
    live = [*greeting(V2), *turn(update(**sent, _meta={"at": "1"}), hello=V2)]
    start, state = {"type": "start"}, line({"sessionUpdate": "state_update", "state": "idle"})
    for fields, codes in (({"_meta": {"at": "2"}}, []), (retold, ["retold-otherwise"])):
        said = loaded(update(**{**sent, **fields}), state, method="session/resume", replayFrom=start)
        assert [code for _, code in found(judged([*live, *said]))] == codes


def test_what_is_resumed_is_retold_only_on_request() -> None:
    """R38, R39. One update tells how things stand; two tell a story."""
    old = [*greeting(NONE), *turn(plan(*LIVELY))]
    new = [*greeting(V2), *turn(items("p", *LIVELY), hello=V2)]
    twice = (plan(*LIVELY), plan(*LIVELY))
    assert found(judged([*old, *loaded(*twice[:1], method="session/resume")])) == []
    assert found(judged([*old, *loaded(*twice, method="session/resume")])) == [("R38", "unasked-replay")]
    start = {"type": "start"}
    state = line({"sessionUpdate": "state_update", "state": "idle"})
    assert found(judged([*new, *loaded(state, method="session/resume")])) == []
    assert found(judged([*new, *loaded(state, method="session/resume", replayFrom=start)])) == [("R39", "not-retold")]
    assert found(judged([*new, *loaded(method="session/resume", replayFrom={"type": "message"})])) == []


@pytest.mark.parametrize("retold", [False, True])
def test_what_is_resumed_says_how_it_stands(retold: bool) -> None:
    """R40: before the answer, with and without a replay."""
    new = [*greeting(V2), *turn(items("p", *LIVELY), hello=V2)]
    asked: dict[str, Any] = {"replayFrom": {"type": "start"}} if retold else {}
    sent = (items("p", *LIVELY),) if retold else ()
    assert found(judged([*new, *loaded(*sent, method="session/resume", **asked)])) == [("R40", "no-state")]


def test_a_fork_may_tell_its_plan_before_the_client_knows_its_name() -> None:
    """R2 is about live updates; this one is older than the fork."""
    done = plan(*(entry(word, "completed", rank) for word, rank in zip("abc", ("high", "low", "low"), strict=True)))
    asked = client(request("session/fork", 8, sessionId="s1"))
    told = done.replace(b'"s1"', b'"s2"')
    verdict = judged([*greeting(NONE), asked, *agent(told, answer(8, {"sessionId": "s2"}))])
    assert (found(verdict), verdict.driven, verdict.sessions) == ([], {"fork": True}, 2)


# All of it together


def test_what_is_broken_again_and_again_is_one_finding() -> None:
    verdict = talk(*[plan({"content": f"a{n}", "status": "pending"}) for n in range(30)])
    finding = named(verdict, "no-priority")
    assert (finding.times, finding.line, len(finding.lines)) == (30, 6, 20)


def test_the_rules_of_the_client_are_not_the_agents() -> None:
    said = [*greeting(NONE), client(b"rubbish"), client(plan("a", 1, None)), *turn()]
    assert found(judged(said)) == []


def test_without_senders_the_verdict_is_the_same() -> None:
    for name in sorted(FOLDER.glob("*.jsonl")):
        knowing, guessing = Checker(), Checker()
        for each in read_recording(str(name)):
            knowing.hear(each.line, each.sender)
            guessing.hear(each.line)
        assert knowing.close() == guessing.close()


def test_without_initialize_only_what_is_wrong_in_every_dialect_is_found() -> None:
    sent = agent(items("p", entry("a", "cancelled"), key="id"), removed("p", key="id"), plan(entry("a", "in_progress")))
    assert found(judged(sent)) == []
    wrong = agent(items("p", entry("a", "done")), plan(entry("a", "cancelled")))
    assert found(judged(wrong)) == [("R19", "unknown-status"), ("R7", "unknown-status")]


UNRANKED = [("practice", "unranked")]
VERDICTS = {
    "claude-agent-acp-0.99.0": UNRANKED,
    "claude-agent-acp-0.99.0-exitplan": [],
    "claude-agent-acp-0.99.0-exitplan-noplancap": [("R1", "not-reported")],
    "claude-agent-acp-0.99.0-mixed": UNRANKED,
    "claude-agent-acp-0.99.0-noplancap": UNRANKED,
    "claude-agent-acp-0.99.0-tasktools": UNRANKED,
    "claude-agent-acp-0.99.0-v2": UNRANKED,
    "claude-agent-acp-0.99.0-v2-exitplan": [],
    "claude-agent-acp-0.99.0-v2-mixed": UNRANKED,
    "claude-agent-acp-0.99.0-v2-tasktools": UNRANKED,
    "claude-code-acp-0.16.2": UNRANKED,
    "client-acpx-0.19.1": [
        ("R7", "unknown-status"),
        ("R6", "no-priority"),
        ("R8", "unasked-operation"),
        ("R7", "unknown-kind"),
        ("R11", "no-plan-id"),
        ("R8", "unasked-operation"),
        ("R13", "unknown-removal"),
    ],
    "client-acpx-0.19.1-claude-agent-acp": UNRANKED,
    "deepagents-acp-0.0.13": UNRANKED,
    "kimi-cli-1.52.0-tombstone": [("R35", "not-json")],
    "mistral-vibe-3.0.3": [("R3", "left-out")],  # reading its list back empties it for a moment
    "zed-codex-acp-0.16.0": UNRANKED,
}


def test_every_conversation_has_a_verdict() -> None:
    assert set(VERDICTS) == {path.stem for path in FOLDER.glob("*.jsonl")}


@pytest.mark.parametrize("name", VERDICTS)
def test_real_agents_are_judged_by_what_they_did(name: str) -> None:
    checker = Checker()
    for each in read_recording(str(FOLDER / f"{name}.jsonl")):
        checker.hear(each.line, each.sender, each.number)
    assert found(checker.close()) == VERDICTS[name]


def test_codes_are_unique_and_every_rule_is_on_the_page() -> None:
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))
    page = (ROOT / "docs" / "check.md").read_text()
    for rule in RULES:
        numbers = rule.number if rule.number_v2 is None else f"{rule.number}, {rule.number_v2}"
        assert f"| `{rule.code}` | {numbers} | {rule.level} | {rule.asks} |" in page


messages = st.sampled_from(
    [sent for hello in (NONE, DRAFT, V2) for _, sent in [*greeting(hello), *turn(plan(*LIVELY), hello=hello)]]
    + [plan("x"), items("p"), text("p", "- [ ] a"), streamed("p", "x"), removed("p"), removed("q", key="id"), call()]
    + [request("session/load", 5, sessionId="s1"), answer(5), refusal(3), b"", b"[", b"null", b"[1,{}]", b"\xff"]
)


@given(st.lists(st.tuples(st.sampled_from(["client", "agent", None]), messages | st.binary(max_size=40))))
def test_nothing_that_is_said_stops_the_checker(said: list[tuple[str | None, bytes]]) -> None:
    for assumed in (None, *DIALECTS.values()):
        checker = Checker(assumed)
        for sender, sent in said:
            checker.hear(sent, sender)
        verdict = checker.close()
        assert all(finding.level in (ERROR, WARNING) and finding.mend for finding in verdict.findings)
