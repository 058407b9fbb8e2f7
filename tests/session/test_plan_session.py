"""PlanSession and its twin: one agent session on a journal."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire import V1, V1_RFD, V2, BlockingPlanSession, Board, Peer, PlanSession, open_journal
from planwire.chat import CHAT_FORMATS, read_stream
from planwire.errors import BadMessage, FormatError, ToolError
from planwire.journal import Journal, Stamped
from planwire.model.events import (
    APPROVED,
    COMMENT,
    ContextCompacted,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    Remarked,
    SessionOpened,
)
from planwire.model.plan import BODY_CAP, Fields
from planwire.model.step_changes import SetStatus
from planwire.session.options import ProviderFormat
from planwire.session.origin import placed
from tests import deciding
from tests.chats import by_fours
from tests.waiting import eventually

every_format = pytest.mark.parametrize("form", CHAT_FORMATS)


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    return BlockingPlanSession(journal, "s")


def append(journal: Journal, event: Any, by: str = "user") -> None:
    deciding.write(journal, "s", Stamped(1, by, event))


def texts(messages: list[Fields]) -> str:
    return json.dumps(messages)


def a_call(form: ProviderFormat, *ids: str) -> Fields:
    """An answer of a model that calls tools, in a format. One item each where the format has items."""
    match form:
        case "anthropic":
            return {"role": "assistant", "content": [_tool_use(each) for each in ids]}
        case "openai-chat":
            calls = [{"id": each, "type": "function", "function": {"name": "x", "arguments": "{}"}} for each in ids]
            return {"role": "assistant", "tool_calls": calls}
        case "openai-responses":
            return {"type": "function_call", "call_id": ids[0], "name": "x", "arguments": "{}"}
    return {"role": "model", "parts": [{"functionCall": {"id": each, "name": "x", "args": {}}} for each in ids]}


def _tool_use(call: str) -> Fields:
    return {"type": "tool_use", "id": call, "name": "x", "input": {}}


def a_result(form: ProviderFormat, call: str) -> Fields:
    match form:
        case "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]}
        case "openai-chat":
            return {"role": "tool", "tool_call_id": call, "content": "ok"}
        case "openai-responses":
            return {"type": "function_call_output", "call_id": call, "output": "ok"}
    return {"role": "user", "parts": [{"functionResponse": {"id": call, "name": "x", "response": {"output": "ok"}}}]}


def a_text(form: ProviderFormat, text: str) -> Fields:
    return {"role": "user", "parts": [{"text": text}]} if form == "gemini" else {"role": "user", "content": text}


# Tools


def test_a_plan_is_made_changed_and_read(plans: BlockingPlanSession) -> None:
    made = plans.call("set_plan", {"entries": ["read", "write"]})
    changed = plans.call("update_plan", '{"steps": {"s1": "completed"}, "add": ["check"]}')
    assert (made["revision"], made["new_steps"]) == (1, ["s1", "s2"])
    assert (changed["revision"], changed["new_steps"]) == (2, ["s3"])
    read = plans.call("get_plan")["plan"]
    assert [(step["id"], step["status"]) for step in read["steps"]] == [
        ("s1", "completed"),
        ("s2", "pending"),
        ("s3", "pending"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("{", "invalid_arguments"),
        ([1], "invalid_arguments"),
        ({"steps": {"s9": "completed"}}, "unknown_step"),
        ({"steps": {"s1": "completed"}, "expected_revision": 7}, "stale_revision"),
        ({"plan_id": "other", "note": "?"}, "no_plan"),
        ({}, "nothing_to_change"),
        (b"\xff", "invalid_arguments"),
    ],
)
def test_a_call_that_is_wrong_is_answered_with_what_to_do(
    plans: BlockingPlanSession, arguments: Any, code: str
) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    answer = plans.call("update_plan", arguments)
    assert answer.is_error
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert answer["error"]["hint"]
    assert json.loads(str(answer)) == answer
    assert plans.state.seq == 1


@pytest.mark.parametrize("half", ["\ud800", "a\udfff"])
def test_half_of_a_surrogate_pair_in_a_call_is_answered_and_never_raised(
    plans: BlockingPlanSession, half: str, tmp_path: Path
) -> None:
    calls: list[tuple[str, Any]] = [
        ("set_plan", {"entries": [half]}),
        ("set_plan", {"content": half}),
        ("set_plan", {"path": f"{tmp_path}/{half}.md"}),
        ("update_plan", {"note": half}),
        ("update_plan", {"steps": {half: "completed"}}),
        ("update_plan", json.dumps({"note": half})),
        ("update_plan", f'{{"note": "{half}"}}'),
        ("get_plan", {"plan_id": half}),
    ]
    for name, arguments in calls:
        answer = plans.call(name, arguments)
        assert answer["error"]["code"] == "invalid_arguments"
        assert json.loads(str(answer)) == answer
    assert plans.state.seq == 0


def test_a_change_that_changes_nothing_writes_nothing(plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    assert plans.call("update_plan", {"steps": {"s1": "completed"}})["unchanged"]
    assert plans.call("set_plan", {"entries": [{"content": "read", "status": "completed"}]})["unchanged"]
    assert plans.state.seq == 2


def test_a_stale_revision_is_refused_with_the_current_plan(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read", "write"]})
    append(journal, PlanChanged("main", changes=(SetStatus("s1", "completed"),)))
    answer = plans.call("update_plan", {"steps": {"s2": "completed"}, "expected_revision": 1})
    assert answer["error"]["code"] == "stale_revision"
    assert answer["error"]["current"]["revision"] == 2
    assert [(each["said"], each["by"]) for each in answer["people"]] == [("edit", "user")]
    changed = plans.call("update_plan", {"steps": {"s2": "completed"}, "expected_revision": 2})
    assert changed["revision"] == plans.state.seq


def test_a_plan_is_read_from_a_file_inside_the_folders_only(journal: Journal, tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "secret.md"
    inside.mkdir()
    (inside / "plan.md").write_text("- [ ] read\n")
    outside.write_text("- [ ] steal\n")
    (inside / "link.md").symlink_to(outside)
    plans = BlockingPlanSession(journal, "s", folders=[inside])
    assert plans.call("set_plan", {"path": str(inside / "plan.md")})["new_steps"] == ["s1"]
    for path in (outside, inside / "link.md", inside / "missing.md"):
        assert plans.call("set_plan", {"path": str(path)})["error"]["code"] == "unreadable_path"
    both = plans.call("set_plan", {"path": str(inside / "plan.md"), "content": "- [ ] x"})
    assert both["error"]["code"] == "invalid_arguments"
    assert plans.call("set_plan", {"path": None, "content": "- [ ] x"})["version"] == 2


@pytest.mark.parametrize("kind", [str, Path])
def test_one_folder_is_one_folder_and_not_the_root_that_its_name_begins_with(
    journal: Journal, tmp_path: Path, kind: type[Any]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "plan.md").write_text("- [ ] read\n")
    (tmp_path / "secret.md").write_text("- [ ] steal\n")
    plans = BlockingPlanSession(journal, "s", folders=kind(tmp_path / "project"))
    assert plans.call("set_plan", {"path": str(tmp_path / "secret.md")})["error"]["code"] == "unreadable_path"
    assert plans.call("set_plan", {"path": str(tmp_path / "project" / "plan.md")})["new_steps"] == ["s1"]


def test_a_file_that_is_too_large_is_cut_if_that_is_what_was_asked_for(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("x" * (BODY_CAP + 1))
    call = {"path": str(tmp_path / "plan.md")}
    assert BlockingPlanSession(journal, "s", folders=[tmp_path]).call("set_plan", call)["error"]["cap"] == BODY_CAP
    cutting = BlockingPlanSession(journal, "s", folders=[tmp_path], oversize="truncate")
    assert cutting.call("set_plan", call)["truncated"]["original_bytes"] == BODY_CAP + 1
    (tmp_path / "plan.md").write_text("x" * (4 * BODY_CAP + 1))
    assert cutting.call("set_plan", call)["error"]["code"] == "too_large"


def test_an_unknown_way_to_deal_with_what_is_too_large_is_refused(journal: Journal) -> None:
    with pytest.raises(ToolError, match="'cut': use one of error, truncate"):
        BlockingPlanSession(journal, "s", oversize="cut")  # type: ignore[arg-type]


def test_no_update_is_lost_when_two_agents_and_a_person_write_at_once(tmp_path: Path) -> None:
    """Two journals on one file are two processes as far as SQLite is concerned."""
    url = str(tmp_path / "plans.db")

    def work(name: str) -> None:
        with BlockingPlanSession.open(url, "s", by=name) as mine:
            for number in range(20):
                assert "revision" in mine.call("update_plan", {"note": f"{name} {number}"})

    with BlockingPlanSession.open(url, "s") as plans:
        plans.call("set_plan", {"entries": ["read"]})
        threads = [Thread(target=work, args=(name,)) for name in ("agent", "other agent", "user")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        notes = plans.call("get_plan")["plan"]["notes"]
        deltas = plans.state.plans["main"].deltas
    assert sorted((each["by"], each["text"]) for each in notes) == sorted(
        (who, f"{who} {number}") for who in ("agent", "other agent", "user") for number in range(20)
    )
    assert [delta.number for delta in deltas] == list(range(1, 61))


def test_two_tools_called_in_parallel_both_count(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            await plans.call("set_plan", {"entries": [f"step {number}" for number in range(30)]})
            await asyncio.gather(
                *(plans.call("update_plan", {"steps": {f"s{number}": "completed"}}) for number in range(1, 31))
            )
            assert plans.state.plans["main"].state.progress.done == 30

    asyncio.run(main())


# The author keeps the history


@every_format
def test_pending_tells_each_thing_once(journal: Journal, form: ProviderFormat) -> None:
    plans = BlockingPlanSession(journal, "s", format=form)
    assert plans.pending() == []
    plans.call("set_plan", {"entries": ["read"]})
    append(journal, PlanChanged("main", "please be quick"))
    assert "<plan id" in texts(plans.pending()[:1])
    append(journal, PlanReviewed("main", 2, APPROVED))
    append(journal, Remarked("main", COMMENT, "well done", 2, "s1", review=3))
    assert "well done" in texts(plans.pending())
    assert plans.pending() == []


def test_recap_is_the_plan_as_it_is_now(plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read", "write"]})
    plans.call("update_plan", {"steps": {"s1": "completed"}, "note": "the config is TOML"})
    plans.call("set_plan", {"content": "# Idea\n\nRewrite it.", "plan_id": "idea"})
    main, idea = plans.recap()
    assert '<step id="s1" status="completed">read</step>' in main["content"]
    assert '<note by="agent">the config is TOML</note>' in main["content"]
    assert "Rewrite it." in idea["content"]
    assert plans.pending() == []


def test_the_first_pending_of_a_session_with_a_past_is_its_recap(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    again = BlockingPlanSession(journal, "s")
    (message,) = again.pending()
    assert '<step id="s1" status="completed">read</step>' in message["content"]
    assert again.pending() == []


def test_a_removed_plan_is_told_as_such_and_left_out_of_the_recap(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.pending()
    append(journal, PlanRemoved("main"))
    assert "dismissed" in texts(plans.pending())
    assert plans.recap() == []


# planwire keeps the history


@every_format
def test_the_chat_comes_back_as_it_was(journal: Journal, form: ProviderFormat) -> None:
    plans = BlockingPlanSession(journal, "s", format=form)
    plans.add(a_text(form, "fix it"), a_call(form, "c1"))
    plans.call("set_plan", {"entries": ["read"]})
    plans.add(a_result(form, "c1"))
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    context = plans.context()
    assert context[:3] == [a_text(form, "fix it"), a_call(form, "c1"), a_result(form, "c1")]
    assert ["<plan id" in texts([each]) for each in context] == [False, False, False, True, False]
    assert BlockingPlanSession(journal, "s", format=form).context() == context
    names = [message.id.rpartition("-")[0] for message in read_stream(plans.export())]
    assert names == ["m-2", "m-3", "m-5", "plan-4", "delta-6"]


@every_format
def test_a_call_that_nobody_answered_is_cancelled_in_the_journal(journal: Journal, form: ProviderFormat) -> None:
    plans = BlockingPlanSession(journal, "s", format=form)
    plans.add(a_text(form, "fix it"), a_call(form, "c1"), a_text(form, "stop"))
    plans.add(a_call(form, "c2"))
    context = plans.context()
    assert len(context) == 6
    assert ["cancelled" in texts([each]) for each in context] == [False, False, True, False, False, True]
    plans.add(a_result(form, "c2"))
    assert plans.context()[:6] == context
    assert "late_result" in texts(plans.context()[6:])
    assert BlockingPlanSession(journal, "s", format=form).context() == plans.context()


def test_messages_of_another_format_are_not_mixed(journal: Journal) -> None:
    BlockingPlanSession(journal, "s", format="anthropic").add({"role": "user", "content": "hello"})
    other = BlockingPlanSession(journal, "s", format="gemini")
    with pytest.raises(FormatError, match="open it as anthropic"):
        other.add(a_text("gemini", "hello"))
    with pytest.raises(FormatError):
        other.context()
    other.call("set_plan", {"entries": ["read"]})
    assert len(other.pending()) == 1
    with pytest.raises(FormatError, match="openai-chat"):
        BlockingPlanSession(journal, "s", format="mcp")  # type: ignore[arg-type]


def test_an_id_is_given_once(plans: BlockingPlanSession) -> None:
    plans.add({"message_id": "x", "role": "user", "content": "one"})
    with pytest.raises(BadMessage, match="'x'"):
        plans.add({"message_id": "x", "role": "user", "content": "two"})
    with pytest.raises(BadMessage, match="JSON"):
        plans.add({"role": "user", "content": object()})
    assert plans.context() == [{"role": "user", "content": "one"}]


def test_hidden_messages_that_an_author_brings_become_plans(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.add(
        {"role": "plan", "content": "- [ ] read\n", "extra": {"plan": {"id": "p", "mode": "agent", "version": 4}}}
    )
    delta = {"subkind": "plan_delta", "source": "tool.update_plan", "payload": {"plan_id": "p", "seq": 9}}
    plans.add({"role": "event", "content": "half way", "extra": {"event": delta}})
    plans.add({"role": "event", "content": "tick", "extra": {"event": {"subkind": "tick", "source": "tool.sleep"}}})
    record = plans.state.plans["p"]
    assert (record.version, record.mode, [delta.note for delta in record.deltas]) == (4, "agent", ["half way"])
    assert [message["role"] for message in plans.context()] == ["user"] * 3
    assert BlockingPlanSession(journal, "s").context() == plans.context()


# Compaction


def talk(plans: BlockingPlanSession, turns: int) -> None:
    for number in range(turns):
        plans.add({"role": "user", "content": f"question {number}"}, {"role": "assistant", "content": "answer"})


def test_a_compaction_keeps_the_plan_and_can_be_read_again(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    before = plans.context()
    talk(plans, 20)
    result = plans.compact(220, tail=4, count=by_fours, summarise=lambda messages: f"{len(messages)} were summed up")
    context = plans.context()
    assert context[:2] == before
    assert context[2] == {"role": "user", "content": "question 0"}, "the task goes last"
    assert f"{len(result.left_out)} were summed up" in texts(context[3:4])
    assert context[-4:] == [{"role": role, "content": text} for role, text in _last_questions()]
    assert result.tokens_after <= 220
    assert result.over_by == 0
    assert BlockingPlanSession(journal, "s").context() == context
    talk(plans, 1)
    assert plans.context()[: len(context)] == context
    kept = {recorded.event.message["content"] for recorded in journal.read("s") if hasattr(recorded.event, "message")}
    assert {f"question {number}" for number in range(20)} <= kept


def _last_questions() -> Iterator[tuple[str, str]]:
    for number in (18, 19):
        yield "user", f"question {number}"
        yield "assistant", "answer"


def test_a_compaction_may_leave_nothing(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.add({"role": "event", "content": "", "extra": {"event": {"subkind": "tick", "source": "sleep"}}})
    assert len(plans.compact(tail=0).left_out) == 1
    assert plans.context() == []
    assert BlockingPlanSession(journal, "s").context() == []


def test_a_plan_that_was_removed_is_rebased_to_nothing_and_once(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    append(journal, PlanRemoved("main"))
    plans.rebase()
    assert plans.context() == []
    seq = plans.state.seq
    plans.rebase()
    assert plans.state.seq == seq


def test_a_summary_that_is_no_text_is_refused_and_nothing_is_compacted(plans: BlockingPlanSession) -> None:
    async def summarise(_messages: Any) -> str:
        return "a text, but not here"

    plans.add(*({"role": "user", "content": "x" * 400} for _ in range(9)))
    with pytest.raises(BadMessage, match="PlanSession"):
        plans.compact(100, tail=1, summarise=cast(Any, summarise))
    assert len(plans.context()) == 9


def test_a_compaction_that_is_cancelled_stops_the_summary_and_changes_nothing() -> None:
    async def main() -> None:
        began, stopped = asyncio.Event(), asyncio.Event()

        async def summarise(_messages: Any) -> str:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            return ""

        async with PlanSession.open("memory:", "s") as plans:
            await plans.add(*({"role": "user", "content": "x" * 400} for _ in range(9)))
            compacting = asyncio.create_task(plans.compact(100, tail=1, summarise=summarise))
            await began.wait()
            compacting.cancel()
            await asyncio.wait_for(stopped.wait(), 5)
            assert len(await plans.context()) == 9

    asyncio.run(main())


def test_a_compaction_that_has_nothing_to_do_writes_nothing(plans: BlockingPlanSession) -> None:
    talk(plans, 2)
    seq = plans.state.seq
    assert plans.compact(10_000).left_out == ()
    assert plans.state.seq == seq


def test_what_comes_while_a_summary_is_written_is_not_lost(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            await plans.call("set_plan", {"entries": ["read"]})
            for number in range(10):
                await plans.add({"role": "user", "content": f"question {number}"})

            async def summarise(messages: Any) -> str:
                await plans.add({"role": "user", "content": "meanwhile"})
                await plans.call("update_plan", {"note": "a thought"})
                return f"{len(messages)} were summed up"

            await plans.compact(30, tail=2, summarise=summarise)
            context = texts(await plans.context())
            for words in ("were summed up", "question 9", "meanwhile", "a thought", ">read</step>"):
                assert words in context
            assert "question 3" not in context

    asyncio.run(main())


def test_two_compactions_at_once_do_not_undo_each_other(journal: Journal, plans: BlockingPlanSession) -> None:
    talk(plans, 20)
    other = BlockingPlanSession(journal, "s")

    def summarise(messages: Any) -> str:
        if other.state.compacted == 0:
            other.compact(40, tail=2)
            other.add({"role": "user", "content": "between"})
        return "summed up"

    plans.compact(60, tail=2, summarise=summarise)
    assert "between" in texts(plans.context())
    assert plans.context() == other.context() == BlockingPlanSession(journal, "s").context()


def test_rebase_makes_one_message_of_a_plan_and_its_changes(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read", "write"]})
    talk(plans, 1)
    plans.call("update_plan", {"steps": {"s1": "completed"}, "note": "TOML"})
    plans.rebase()
    context = plans.context()
    assert [message["role"] for message in context] == ["user", "assistant", "user"]
    assert '<step id="s1" status="completed">read</step>' in context[-1]["content"]
    assert "TOML" in context[-1]["content"]
    assert plans.state.plans["main"].version == 1
    assert BlockingPlanSession(journal, "s").context() == context
    seq = plans.state.seq
    plans.rebase()
    assert plans.state.seq == seq
    plans.call("update_plan", {"steps": {"s2": "completed"}})
    assert plans.context()[:-1] == context


def test_a_compaction_that_an_agent_reports_leaves_the_chat_alone(journal: Journal, plans: BlockingPlanSession) -> None:
    talk(plans, 1)
    append(journal, ContextCompacted(reason="reported"), by="relay")
    assert len(plans.context()) == 2


# The journal


def test_a_long_session_is_opened_from_a_snapshot(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read", "write"]})
    talk(plans, 150)
    plans.compact(100, tail=4)
    kept = journal.snapshot("s", "session")
    assert kept is not None
    again = BlockingPlanSession(journal, "s")
    assert again.context() == plans.context()
    assert again.state == plans.state
    assert again.call("update_plan", {"add": ["check"]})["new_steps"] == ["s3"]
    journal.keep_snapshot("s", plans.state.seq, b"what is this?", "session")
    assert BlockingPlanSession(journal, "s").context()[:-1] == plans.context()[:-1]


def test_a_session_that_no_snapshot_can_hold_does_without_one(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.add({"role": "user", "content": "How many?", "number": 2**64})
    talk(plans, 150)
    assert journal.snapshot("s", "session") is None
    assert BlockingPlanSession(journal, "s").context() == plans.context()


def test_a_session_that_was_forgotten_begins_anew(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.add({"role": "user", "content": "secret"})
    journal.forget("s")
    assert plans.call("update_plan", {"note": "?"})["error"]["code"] == "no_plan"
    assert plans.pending() == []
    assert plans.context() == []
    assert plans.call("set_plan", {"entries": ["anew"]})["revision"] == 2
    opened, _ = journal.read("s")
    assert opened.event == placed(SessionOpened(format="openai-chat"))


def test_what_is_known_of_a_session_is_written_once(journal: Journal) -> None:
    about = SessionOpened(agent="my agent", title="Fix it")
    for _ in range(2):
        plans = BlockingPlanSession(journal, "s", about=about)
    assert plans.state.opened == placed(about)
    assert plans.state.seq == 1


def test_the_end_of_a_turn_is_recorded_until_work_goes_on(plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.end_turn("cancelled")
    plans.end_turn("cancelled")
    assert (plans.state.stopped, plans.state.seq) == ("cancelled", 2)
    plans.call("update_plan", {"steps": {"s1": "in_progress"}})
    assert plans.state.stopped is None


# Clients


class Client:
    """A client that reads as fast as it is told to."""

    def __init__(self, dialect: Any) -> None:
        self.lines: list[bytes] = []
        self.board = Board()
        self.reading = asyncio.Event()
        self.reading.set()
        self.peer = Peer(dialect, self.send)

    async def send(self, line: bytes) -> None:
        await self.reading.wait()
        self.lines.append(line)
        assert not self.board.apply(line).reports

    def entries(self) -> list[list[tuple[str, str]]]:
        states = self.board.sessions["s"].plans.values()
        return [[(step.content, step.status) for step in state.steps] for state in states]


@contextmanager
def on_disk(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "plans.db") as journal:
        yield journal


@pytest.mark.parametrize("dialect", [V1, V1_RFD, V2])
def test_a_client_is_told_every_change_in_its_dialect(tmp_path: Path, dialect: Any) -> None:
    """R6, R8, R11: complete lists, and nothing that the client did not ask for."""

    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            await plans.call("set_plan", {"entries": ["read", "write"]})
            client = Client(dialect)
            plans.connect(client.peer)
            await plans.flush()
            assert client.entries() == [[("read", "pending"), ("write", "pending")]]
            for number in (1, 2):
                await plans.call("update_plan", {"steps": {f"s{number}": "completed"}})
                await plans.flush()
            assert client.entries() == [[("read", "completed"), ("write", "completed")]]
            assert len(client.lines) == 3
            assert (b'"plan_update"' in client.lines[0]) is (dialect is not V1)

    asyncio.run(main())


def test_a_slow_client_gets_the_newest_state_and_nothing_piles_up(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            slow, quick = Client(V2), Client(V2)
            plans.connect(slow.peer)
            plans.connect(quick.peer)
            slow.reading.clear()
            await plans.call("set_plan", {"entries": [f"step {number}" for number in range(20)]})
            for number in range(1, 21):
                await plans.call("update_plan", {"steps": {f"s{number}": "completed"}})
            slow.reading.set()
            await plans.flush()
            assert slow.entries() == quick.entries() == [[(f"step {number}", "completed") for number in range(20)]]
            assert len(slow.lines) <= 3

    asyncio.run(main())


def test_a_client_hears_what_another_process_changes(tmp_path: Path) -> None:
    async def main() -> None:
        with on_disk(tmp_path) as other:
            async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
                client = Client(V2)
                plans.connect(client.peer, "s")
                await plans.call("set_plan", {"entries": ["read"]})
                append(other, PlanChanged("main", changes=(SetStatus("s1", "completed"),)))
                await eventually(lambda: client.lines and client.entries() == [[("read", "completed")]])
                append(other, PlanRemoved("main"))
                await eventually(lambda: b"plan_removed" in client.lines[-1])

    asyncio.run(main())


def test_a_client_that_is_gone_does_not_stop_the_session(tmp_path: Path) -> None:
    async def hang_up(line: bytes) -> None:
        raise ConnectionResetError("the editor was closed")

    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            gone = plans.connect(Peer(V2, hang_up))
            client = Client(V2)
            plans.connect(client.peer)
            await plans.call("set_plan", {"entries": ["read"]})
            await plans.flush()
            assert isinstance(gone.error, ConnectionResetError)
            assert client.entries() == [[("read", "pending")]]

    asyncio.run(main())


def test_a_client_that_never_reads_does_not_keep_a_session_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.session.plan_session.PARTING_SECONDS", 0.05)

    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            client = Client(V2)
            client.reading.clear()
            plans.connect(client.peer)
            await plans.call("set_plan", {"entries": ["read"]})
        assert client.lines == []

    asyncio.run(asyncio.wait_for(main(), 30))


# What a session holds is folded from the journal, and from nothing else

actions = st.lists(
    st.sampled_from(
        ["user", "call", "two calls", "result", "plan", "change", "person", "context", "compact", "rebase"]
    ),
    max_size=25,
)


@every_format
@given(actions=actions)
def test_a_session_opened_again_shows_the_same_and_requests_only_grow(form: ProviderFormat, actions: list[str]) -> None:
    with open_journal("memory:") as journal:
        plans = BlockingPlanSession(journal, "s", format=form)
        asked: list[str] = []
        sent: list[Fields] = []
        for number, action in enumerate(actions):
            match action:
                case "user":
                    plans.add(a_text(form, f"text {number}"))
                case "call":
                    asked.append(f"c{number}")
                    plans.add(a_call(form, f"c{number}"))
                case "two calls":
                    calls = [f"c{number}", f"c{number}b"] if form != "openai-responses" else [f"c{number}"]
                    asked += calls
                    plans.add(a_call(form, *calls))
                case "result" if asked:
                    plans.add(a_result(form, asked.pop(0)))
                case "plan":
                    plans.call("set_plan", {"entries": [f"step {number}", "another"]})
                case "change":
                    plans.call("update_plan", {"note": f"note {number}"})
                case "person":
                    append(journal, PlanChanged("main", f"wish {number}"))
                case "compact" | "rebase":
                    plans.compact(200, tail=3) if action == "compact" else plans.rebase()
                    sent = []
                case "context":
                    request = plans.context()
                    assert request[: len(sent)] == sent
                    sent = request
        assert BlockingPlanSession(journal, "s", format=form).export() == plans.export()
        assert BlockingPlanSession(journal, "s", format=form).context() == plans.context()


# -- plan files


def test_a_plan_file_counts_in_the_answers_the_recap_and_the_lists_of_clients(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("# Port\n\n- [x] read\n- [ ] write\n")
    sent: list[bytes] = []

    async def send(line: bytes) -> None:
        sent.append(line)

    async def work() -> None:
        about = SessionOpened(cwd=str(tmp_path))
        async with PlanSession.open("memory:", "s", about=about) as plans:
            plan = {"id": "f", "version": 1, "created_at_ms": 0, "kind": "file"}
            await plans.add({"role": "plan", "message_id": "m", "content": path.as_uri(), "extra": {"plan": plan}})
            assert (await plans.call("get_plan", {"plan_id": "f"}))["plan"]["progress"] == "1 of 2 done"
            assert "- [x] read" in texts(await plans.recap())
            plans.connect(Peer(V1, send))
            await plans.flush()

    asyncio.run(work())
    [listed] = [update for line in sent if "entries" in (update := json.loads(line)["params"]["update"])]
    assert [entry["content"] for entry in listed["entries"]] == ["read", "write"]
