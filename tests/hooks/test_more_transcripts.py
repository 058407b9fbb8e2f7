"""Transcripts of Gemini, Qwen, Copilot and opencode: real ones tell what happened, and none that is damaged or unknown
raises anything."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks import copilot_transcript, gemini_transcript, opencode_transcript, qwen_transcript
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
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.transcript_files import TRANSCRIPTS, PastSession, UnreadTranscript
from planwire.hooks.transcripts import Keep, TranscriptHead
from planwire.model.plan import Entry
from tests.hooks.test_payloads import anything
from tests.hooks.transcripts import HOMES

ALL = Keep(prompts=True, thoughts=True)
BEGAN, OVER = Started("startup"), TurnOver("end_turn")
PLAN = "# Plan {}\n\n1. Read the config\n2. Write the parser\n"
TODO_TABLE = "CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT)"


def found(agent: str, place: Path) -> dict[str, PastSession]:
    return {each.id: each for each in TRANSCRIPTS[agent](place) if isinstance(each, PastSession)}


def told(past: PastSession, keep: Keep = ALL) -> list[Happening]:
    return [what for each in past.read(keep) for what in each.heard.what]


def steps(*statuses: str, priorities: tuple[str | None, ...] = (None, None)) -> ListHeard:
    texts = ("Read the config file", "Write the parser")
    return ListHeard("todos", tuple(map(Entry, texts, priorities, statuses)))


def script(path: Path, text: str) -> Path:
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(text)
    return path


@pytest.fixture
def opencode(tmp_path: Path) -> Path:
    return script(tmp_path / "opencode.db", (HOMES / "opencode" / "opencode.sql").read_text())


def test_a_session_of_gemini_counts_each_call_once() -> None:
    [past] = found("gemini", HOMES / "gemini").values()
    assert past.folder == "/home/user/project"
    assert told(past) == [
        BEGAN,
        TurnBegan("make a plan"),
        ListHeard("todos", (Entry("Read", None, "in_progress"),)),
        OVER,
        TurnBegan("go on"),
        OVER,
    ]


def test_a_session_of_qwen_has_its_sub_agent() -> None:
    past = found("qwen", HOMES / "qwen")["a2070147-6f0c-49da-a934-d729dd27fbf7"]
    assert told(past) == [
        BEGAN,
        TurnBegan("make a plan"),
        steps("in_progress", "pending"),
        steps("completed", "in_progress"),
        ChildBegan(),
        ChildEnded(),
        OVER,
    ]
    child = Child("general-purpose-call_08a2b9acbf02", "general-purpose")
    assert {each.heard.child for each in past.read(ALL)} == {None, child}


def test_a_plan_of_qwen_was_sent_back_and_then_approved() -> None:
    past = found("qwen", HOMES / "qwen")["e5c72c43-7aea-4033-b0e0-2d38694eaeed"]
    assert told(past) == [
        BEGAN,
        TurnBegan("make a plan"),
        Proposed("plan-mode", PLAN.format("A"), draft=True),
        Decided("plan-mode", approved=False),
        OVER,
        TurnBegan("go on"),
        Proposed("plan-mode", PLAN.format("B"), draft=True),
        Decided("plan-mode", True, PLAN.format("B")),
        OVER,
    ]


def test_a_plan_of_copilot_is_sent_back_with_words_if_they_are_to_be_kept() -> None:
    past = found("copilot", HOMES / "copilot")["d8d08e75-5e83-4043-92d9-1e2e69149e46"]
    answers = [Decided("plan-mode", approved=False, words="please add tests"), Decided("plan-mode", approved=True)]
    assert told(past) == [
        BEGAN,
        TurnBegan("make a plan"),
        Proposed("plan-mode", PLAN.format("A"), draft=True),
        *answers,
        Compacted(),
        OVER,
        TurnBegan("and now"),
        OVER,
    ]
    assert Decided("plan-mode", approved=False) in told(past, Keep())
    assert TurnBegan() in told(past, Keep())


def test_the_steps_of_copilot_are_those_in_its_database(tmp_path: Path) -> None:
    name = "8a0b74c4-0d90-4a37-a6dc-55be428cee99"
    home = Path(shutil.copytree(HOMES / "copilot", tmp_path / "home"))
    assert not any(isinstance(each, ListHeard) for each in told(found("copilot", home)[name]))
    rows = "INSERT INTO todos VALUES ('a', 'Read the config file', 'done'), ('b', 'Write the parser', 'pending');"
    script(home / "session-state" / name / "session.db", f"{TODO_TABLE}; {rows}")
    past = found("copilot", home)[name]
    assert told(past) == [BEGAN, TurnBegan("make a plan"), steps("done", "pending"), OVER]


def test_the_sessions_of_opencode_are_in_its_database(opencode: Path) -> None:
    past, other = found("opencode", opencode).values()
    assert past.folder == "/home/user/project"
    todos = steps("in_progress", "pending", priorities=("high", "low"))
    assert told(past) == [
        BEGAN,
        TurnBegan('"make a plan"'),
        todos,
        ChildBegan(),
        ChildEnded(),
        Titled("Plan test"),
        OVER,
    ]
    assert told(other) == [
        BEGAN,
        TurnBegan("make a plan"),
        Proposed("plan-mode", PLAN.format("A"), draft=True),
        Compacted(),
        ListHeard("todos", (Entry("Read the config file", "high", "in_progress"),)),
        OVER,
        TurnBegan("go on"),
        Decided("plan-mode", approved=True),
        OVER,
        TurnBegan("wait a bit"),
        Titled("Plan test"),
        TurnOver("cancelled"),
    ]


def test_opencodes_own_database_is_found(opencode: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert list(TRANSCRIPTS["opencode"](None)) == []
    (tmp_path / "data" / "opencode").mkdir(parents=True)
    opencode.rename(tmp_path / "data" / "opencode" / "opencode.db")
    assert len(list(TRANSCRIPTS["opencode"](None))) == 2


@pytest.mark.parametrize("agent", ["gemini", "qwen", "copilot", "opencode"])
def test_an_unknown_format_says_so(agent: str, tmp_path: Path) -> None:
    (tmp_path / "text.jsonl").write_text('{"type": "future"}\n')
    [unread] = TRANSCRIPTS[agent](tmp_path / "text.jsonl")
    assert unread == UnreadTranscript(str(tmp_path / "text.jsonl"), "its format is not known")


def test_a_database_that_lacks_a_table_can_not_be_read(opencode: Path) -> None:
    past = next(iter(found("opencode", opencode).values()))
    script(opencode, "DROP TABLE part")
    with pytest.raises(OSError, match="part"):
        list(past.read(ALL))


def jsonl(agent: str) -> list[dict[str, Any]]:
    files = sorted((HOMES / agent).rglob("*.jsonl"))
    return [msgspec.json.decode(line) for file in files for line in file.read_bytes().splitlines()]


READERS = {"gemini": gemini_transcript, "qwen": qwen_transcript, "copilot": copilot_transcript}
REAL = [record for agent in READERS for record in jsonl(agent)]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A real line with anything at all in place of one of its fields."""
    record: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(draw(st.sampled_from(REAL))))
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
        head = reader.head(lines) or TranscriptHead("s", path="/x/events.jsonl")
        for past in reader.read(head, lines, ALL):
            msgspec.json.encode(past)


part = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool", "compaction", "reasoning"])},
    optional={"callID": anything, "tool": st.sampled_from(["todowrite", "write", "plan_exit"]), "state": anything},
)


@given(st.lists(st.fixed_dictionaries({"at": anything, "role": anything, "part": part | anything, "error": anything})))
def test_no_parts_raise_anything(records: list[dict[str, Any]]) -> None:
    for past in opencode_transcript.read(TranscriptHead("s"), records, ALL):
        msgspec.json.encode(past)
