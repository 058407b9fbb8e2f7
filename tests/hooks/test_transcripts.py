"""Transcripts: real ones tell what happened, and none that is damaged or unknown raises anything."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks import claude_transcript, codex_transcript, transcript_files
from planwire.hooks.happenings import (
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Decided,
    Happening,
    ListHeard,
    Proposed,
    Started,
    TaskChanged,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.transcript_files import TRANSCRIPTS, PastSession, UnreadTranscript
from planwire.hooks.transcripts import Keep, PastCalls, TranscriptHead, instant, records
from planwire.model.plan import Entry
from tests.hooks.test_payloads import anything
from tests.hooks.transcripts import HOMES

TASKS = "26ef4a51-7064-4f00-8fe2-5ebfa1f4f06a"
TODOS = "431a1bee-fd09-4821-9f24-702e0f7c0fb6"
PROPOSAL = "2c00d236-55f2-4bb5-88fd-0e2e01544feb"
LISTS = "01a1e58e-3bcd-7562-a852-cb4c6134261d"
PLAN_MODE = "01a1e591-45db-7321-bd80-49f449649778"
THREADS = "01a1e5a5-41e1-7322-a55d-49c17e7e6d1c"
ALL = Keep(prompts=True, thoughts=True)


def found(agent: str, place: Path | None = None) -> dict[str, PastSession]:
    sessions = TRANSCRIPTS[agent](place or HOMES / agent)
    return {each.id: each for each in sessions if isinstance(each, PastSession)}


def told(agent: str, session: str, keep: Keep = ALL) -> list[Happening]:
    return [what for past in found(agent)[session].read(keep) for what in past.heard.what]


def steps(*statuses: str) -> tuple[Entry, ...]:
    return tuple(map(Entry, ("Read", "Write"), (None, None), statuses))


def test_the_sessions_of_a_home_are_found_with_their_folders() -> None:
    assert set(found("claude-code")) == {TASKS, TODOS, PROPOSAL}
    assert set(found("codex")) == {LISTS, PLAN_MODE, THREADS}
    assert {each.folder for each in found("claude-code").values()} == {"/home/user/project"}


def test_a_home_is_where_the_agents_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert list(TRANSCRIPTS["codex"](None)) == []
    monkeypatch.setenv("CODEX_HOME", str(HOMES / "codex"))
    assert len(list(TRANSCRIPTS["codex"](None))) == 3


def test_tasks_of_a_session_and_its_sub_agent_are_told_in_the_order_of_time() -> None:
    assert told("claude-code", TASKS) == [
        Started("startup"),
        TurnBegan("make a plan"),
        TaskChanged("todos", "1", "Read the config", "pending"),
        TaskChanged("todos", "2", "Write the parser", "pending"),
        TaskChanged("todos", "1", None, "in_progress"),
        ChildBegan(),
        TaskChanged("todos", "3", "Look for other configs", "pending"),
        TaskChanged("todos", "2", "Write the lexer"),
        TaskChanged("todos", "1", gone=True),
        ChildEnded(),
        Titled("Parser for the config"),
        TurnOver("end_turn"),
    ]
    children = {past.heard.child for past in found("claude-code")[TASKS].read(ALL)}
    assert children == {None, Child("a6f66a729bf8ffeca", "general-purpose")}


def test_lists_turns_and_a_compaction_are_told() -> None:
    assert told("claude-code", TODOS) == [
        Started("startup"),
        TurnBegan("make a plan"),
        ListHeard("todos", steps("pending", "pending")),
        ListHeard("todos", steps("in_progress", "pending")),
        Compacted(),
        TurnOver("end_turn"),
        TurnBegan("go on"),
        TurnOver("end_turn"),
    ]


def test_a_proposal_is_told_with_what_the_person_made_of_it() -> None:
    first, second = "# Plan A\n\n1. Read\n", "# Plan C\n\n1. Read\n"
    assert told("claude-code", PROPOSAL)[2:-1] == [
        Proposed("plan-mode", first, draft=True),
        Proposed("plan-mode", first, draft=True),
        Decided("plan-mode", approved=False, words="Smaller steps please"),
        Proposed("plan-mode", second, draft=True),
        Proposed("plan-mode", second, draft=True),
        Decided("plan-mode", approved=True, text=second),
    ]


def test_lists_and_goals_of_codex_are_told() -> None:
    assert told("codex", LISTS) == [
        Started("startup"),
        TurnBegan("make a plan"),
        ListHeard("todos", steps("in_progress", "pending"), "why"),
        ListHeard("goal", (Entry("Write the parser", None, "in_progress"),)),
        ListHeard("todos", steps("completed", "in_progress")),
        ListHeard("goal", (Entry("Write the parser", None, "completed"),)),
        TurnOver("end_turn"),
        TurnBegan("go on"),
        TurnOver("end_turn"),
    ]


def test_a_plan_of_codexs_plan_mode_is_told() -> None:
    assert Proposed("plan-mode", "# Plan A\n\n1. Read\n2. Write\n", draft=True) in told("codex", PLAN_MODE)


def test_a_sub_agent_of_codex_has_a_list_of_its_own() -> None:
    lists = {
        past.heard.child: what.entries[0].content
        for past in found("codex")[THREADS].read(ALL)
        for what in past.heard.what
        if isinstance(what, ListHeard)
    }
    assert lists == {None: "Main", Child("01a1e5a5-4280-7fb3-a841-190be3441611", "default"): "Look"}


def test_neither_prompts_nor_thoughts_are_told_unless_asked_for() -> None:
    for agent in TRANSCRIPTS:
        for session in found(agent).values():
            pasts = list(session.read(Keep()))
            assert not any(past.thought for past in pasts)
            assert {TurnBegan()} == {what for past in pasts for what in past.heard.what if isinstance(what, TurnBegan)}
    assert Decided("plan-mode", approved=False) in told("claude-code", PROPOSAL, Keep())


def test_a_thought_goes_with_the_plan_that_came_of_it() -> None:
    thoughts = [past.thought for past in found("claude-code")[TASKS].read(ALL)]
    assert list(filter(None, thoughts)) == ["The config decides what the parser reads."]


def test_times_are_those_of_the_transcript_and_never_run_backwards() -> None:
    for agent in TRANSCRIPTS:
        for session in found(agent).values():
            times = [past.at for past in session.read(Keep())]
            assert times == sorted(times)
            assert 1_794_800_000_000 < times[0] < times[-1] < 1_794_900_000_000


def test_one_file_is_a_session_with_its_sub_agents() -> None:
    file = HOMES / "claude-code" / "projects" / "-home-user-project" / f"{TASKS}.jsonl"
    assert ChildBegan() in [what for past in found("claude-code", file)[TASKS].read(ALL) for what in past.heard.what]


def test_a_file_of_another_format_is_unread(tmp_path: Path) -> None:
    (tmp_path / "rollout-1.jsonl").write_text('{"id": "1", "instructions": "an old format"}\n')
    (tmp_path / "rollout-2.jsonl").write_bytes(b"\xff\x00 no text at all")
    (tmp_path / "rollout-3.jsonl").mkdir()
    assert [each.why for each in TRANSCRIPTS["codex"](tmp_path) if isinstance(each, UnreadTranscript)] == [
        "its format is not known",
        "its format is not known",
        "it is no file",
    ]


def test_a_pipe_is_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (found,) = TRANSCRIPTS["claude-code"](tmp_path)
    assert found == UnreadTranscript(str(tmp_path / "a.jsonl"), "it is no file")


def test_a_line_that_is_too_long_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_files, "_LONGEST_LINE", 100)
    (tmp_path / "a").write_bytes(b"x" * 250 + b"\n" + b"short\n" + b"y" * 99 + b"\n" + b"z" * 300)
    with (tmp_path / "a").open("rb") as file:
        assert list(transcript_files._lines(file)) == [b"short\n", b"y" * 99 + b"\n"]


def test_a_sub_agent_without_its_session_is_unread(tmp_path: Path) -> None:
    name = "agent-a6f66a729bf8ffeca.jsonl"
    whole = HOMES / "claude-code" / "projects" / "-home-user-project" / TASKS / "subagents" / name
    (tmp_path / name).write_bytes(whole.read_bytes())
    assert [type(each) for each in TRANSCRIPTS["claude-code"](tmp_path)] == [UnreadTranscript]


def test_a_thread_of_another_session_is_a_sub_agent() -> None:
    source = {"subagent": {"thread_spawn": {"agent_role": "explorer"}}}
    meta = {"id": "t2", "session_id": "t1", "cwd": "/home/user/project", "source": source}
    head = codex_transcript.head([{"type": "session_meta", "payload": meta}])
    assert head == TranscriptHead("t1", "/home/user/project", Child("t2", "explorer"))


def test_a_turn_that_was_interrupted_was_cancelled() -> None:
    def line(text: str, minute: int) -> dict[str, Any]:
        return {"type": "user", "message": {"content": text}, "timestamp": f"2026-11-16T18:0{minute}:00Z"}

    lines = [line("Go", 1), line("[Request interrupted by user]", 2), line("Go on", 3)]
    whats = [past.heard.what[0] for past in claude_transcript.read(TranscriptHead("s"), lines, ALL)]
    assert whats == [
        Started("startup"),
        TurnBegan("Go"),
        TurnOver("cancelled"),
        TurnBegan("Go on"),
        TurnOver("end_turn"),
    ]


def test_calls_without_results_are_forgotten_in_time() -> None:
    calls = PastCalls(Keep())
    for number in range(1_001):
        calls.begin(str(number), "TodoWrite", {})
    assert calls.end("0") is None
    assert calls.end("1000") is not None


def lines_of(agent: str) -> Iterator[bytes]:
    for file in sorted((HOMES / agent).rglob("*.jsonl")):
        yield from file.read_bytes().splitlines()


READERS = {"claude-code": claude_transcript, "codex": codex_transcript}
REAL = [(agent, line) for agent in READERS for line in lines_of(agent)]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A real line with anything at all in place of some of its fields."""
    record: dict[str, Any] = msgspec.json.decode(draw(st.sampled_from(REAL))[1])
    inner: Any = record
    while True:
        places = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        place = draw(st.sampled_from(places))
        if not (isinstance(inner[place], dict | list) and inner[place] and draw(st.booleans())):
            break
        inner = inner[place]
    inner[place] = draw(anything)
    return record


@given(st.lists(damaged() | st.dictionaries(st.text(), anything), max_size=6))
def test_no_lines_raise_anything(lines: list[dict[str, Any]]) -> None:
    for reader in READERS.values():
        head = reader.head(lines) or TranscriptHead("s")
        for past in reader.read(head, [msgspec.json.decode(each) for _, each in REAL[:20]] + lines, ALL):
            msgspec.json.encode(past)


@given(st.lists(st.binary()))
def test_a_bad_line_costs_itself(lines: list[bytes]) -> None:
    good = b'{"type": "user"}'
    assert list(records([*lines, good]))[-1] == {"type": "user"}


zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(min_value=datetime(1971, 1, 1), timezones=st.just(UTC) | zones))  # noqa: DTZ001
def test_an_instant_is_the_time_that_was_written(time: datetime) -> None:
    expected = (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert instant(time.isoformat()) == expected


@given(st.text())
def test_any_other_text_is_no_instant(text: str) -> None:
    assert instant(text) is None or text[:4].isdigit()


def test_a_time_that_can_t_be_is_no_instant() -> None:
    assert instant("2026-13-01T00:00:00Z") is None
    assert instant("2026-11-16T18:11:06.352Z") == 1_794_852_666_352
