"""From the spool of hooks to the journal, and back to the hooks that wait for an answer."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from time import time
from typing import Any

import pytest

from planwire.errors import JournalUnavailable, NoJournal, NotAJournal
from planwire.hooks import draining
from planwire.hooks.drain_thread import DrainThread
from planwire.hooks.drained import drain_into, open_drained, tell_hooks
from planwire.hooks.draining import HookDrainer
from planwire.hooks.recording import TERMINAL
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.hook_folders import hooks_path, journal_of_hooks
from planwire.journal.processes import process_name
from planwire.journal.spool import Spool
from planwire.model.events import COMMENT, REFUSED, TOLD, Gap, PlanSet, Remarked, SessionOpened, Told, TurnEnded
from planwire.model.records import SessionState
from planwire.readmodel.states import HOOK
from planwire.session.lapses import end_lapsed
from planwire.session.origin import placed
from planwire.session.writer import append_latest
from tests import deciding
from tests.waiting import until

LIST = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]


class Terminal:
    """A journal, and an agent in a terminal whose hooks write to its spool."""

    def __init__(self, path: Path) -> None:
        self.journal: Journal = open_journal(path / "journal.db")
        self.folder = path / "journal.db-hooks"
        self.spool = Spool(self.folder)
        self.process = subprocess.Popen([sys.executable, "-P", "-c", "input()"], stdin=subprocess.PIPE)

    def hook(self, event: str, session: str = "abc", answer: str = "", **fields: Any) -> None:
        """A hook of Claude Code's."""
        name = process_name(self.process.pid)
        assert name is not None
        note = {"ancestors": f"1:1:sh,{name.replace('-', ':')}:claude", **({"answer": answer} if answer else {})}
        payload = {
            "session_id": session,
            "transcript_path": f"/home/user/.claude/projects/-work/{session}.jsonl",
            "cwd": "/work",
            "hook_event_name": event,
            **fields,
        }
        assert self.spool.append(note, json.dumps(payload).encode())

    def todo(self, todos: object = LIST, **fields: Any) -> None:
        self.hook("PostToolUse", tool_name="TodoWrite", tool_input={"todos": todos}, tool_response={}, **fields)

    def comment(self, text: str) -> None:
        self.say("todos", text)

    def say(self, plan_id: str, text: str) -> None:
        """A person says something, in another process that does not drain."""
        deciding.write(self.journal, "abc", Stamped(1, "ann", Remarked(plan_id, COMMENT, text, step="s2")))
        tell_hooks(self.journal, journal_of_hooks(self.folder), "abc")

    def drain(self) -> None:
        drain_into(self.journal, self.folder)

    def answer(self, name: str) -> str:
        """What a hook is told, once it has taken it."""
        answers = self.folder / "answers"
        (answers / name).rename(answers / f"{name}.taken")
        said = (answers / f"{name}.taken").read_text()
        (answers / f"{name}.taken").rename(answers / f"{name}.told")
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""

    def events(self, kind: type[Any], session: str = "abc") -> list[Any]:
        return [each.event for each in self.journal.read(session) if isinstance(each.event, kind)]

    def names(self, folder: str = ".") -> list[str]:
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def die(self) -> None:
        self.process.kill()
        self.process.communicate()


def unavailable(*_: object, **__: object) -> None:
    raise JournalUnavailable("busy")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.die()
    terminal.journal.close()


def test_what_hooks_said_is_in_the_journal_in_its_order(terminal: Terminal) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.todo([{"content": "Read", "status": "completed"}, {"content": "Write", "status": "completed"}])
    terminal.hook("Stop")
    terminal.drain()
    terminal.drain()
    state = load_state(terminal.journal, "abc")
    assert state.opened is not None
    assert (state.opened.agent, state.opened.cwd, state.opened.title) == ("Claude Code", "/work", "Fix it")
    assert [state.plans["todos"].version, state.stopped] == [2, "end_turn"]
    assert terminal.spool.is_empty()


def test_a_session_that_is_forgotten_while_its_agent_works_begins_anew_with_its_agent_and_folder(
    terminal: Terminal,
) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("Hurry")
    terminal.hook("UserPromptSubmit", answer="1", prompt="Go on", prompt_id="p")
    terminal.drain()
    assert "Hurry" in terminal.answer("1")
    terminal.journal.forget("abc")
    terminal.drain()
    assert terminal.journal.last_seq("abc") == 0, "what became of an answer is no reason to have it again"
    terminal.todo()
    terminal.hook("Stop")
    terminal.drain()
    first, *_ = terminal.journal.read("abc")
    assert first.event == placed(SessionOpened("Claude Code", TERMINAL, "/work"))


def test_a_drainer_that_dies_behind_its_append_leaves_nothing_to_double(terminal: Terminal) -> None:
    terminal.todo()
    terminal.todo([{"content": "Other", "status": "pending"}])
    dying = HookDrainer(terminal.journal, terminal.folder)
    with dying.lock:
        [segment] = terminal.spool.drain(dying.lock)
        dying._take(segment)
    seq = terminal.journal.last_seq("abc")
    terminal.drain()
    assert terminal.journal.last_seq("abc") == seq
    assert terminal.spool.is_empty()


def test_a_journal_is_created_for_what_hooks_said(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    folder = hooks_path(str(path))
    assert folder is not None
    assert journal_of_hooks(folder) == f"sqlite:{path}"
    payload = {"session_id": "abc", "prompt_id": "p", "hook_event_name": "UserPromptSubmit", "prompt": "Go"}
    Spool(folder).append({}, json.dumps(payload).encode())
    with open_drained(str(path)) as journal:
        assert [each.id for each in journal.sessions()] == ["abc"]


@pytest.mark.parametrize("name", ["reserve", "drainer.lock", "removal.lock", "aside-sealed-1"])
def test_no_journal_is_created_for_what_nobody_drains(tmp_path: Path, name: str) -> None:
    (tmp_path / "new.db-hooks").mkdir()
    (tmp_path / "new.db-hooks" / name).touch()
    with pytest.raises(NoJournal), open_drained(str(tmp_path / "new.db")):
        pass


def test_a_word_is_offered_told_and_seen(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    assert terminal.names("news") == ["abc"]
    terminal.hook("PostToolUse", tool_name="Bash", answer="a1")
    terminal.drain()
    assert "careful" in terminal.answer("a1")
    terminal.drain()
    assert [each.stage for each in terminal.events(Told)] == ["offered", TOLD]
    assert terminal.names("news") == []
    assert terminal.names("answers") == []
    terminal.hook("PostToolUse", tool_name="Bash", answer="a2")
    terminal.drain()
    assert terminal.answer("a2") == ""


def test_what_waits_for_a_sub_agent_is_no_news_for_others(terminal: Terminal) -> None:
    terminal.todo()
    terminal.todo(agent_id="c1", agent_type="Explore")
    terminal.drain()
    terminal.say("todos@c1", "careful")
    assert terminal.names("news") == ["c1"]
    terminal.hook("PostToolUse", tool_name="Bash", answer="a1", agent_id="c1", agent_type="Explore")
    terminal.drain()
    assert "careful" in terminal.answer("a1")
    terminal.drain()
    assert terminal.names("news") == []


def test_of_hooks_at_the_same_time_one_tells(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    for name in ("a1", "a2"):
        terminal.hook("PostToolUse", tool_name="Bash", answer=name)
    terminal.drain()
    terminal.hook("PostToolUse", tool_name="Bash", answer="a3")
    terminal.drain()
    told = [terminal.answer(name) for name in ("a1", "a2", "a3")]
    assert ["careful" in each for each in told] == [True, False, False]


def test_an_answer_that_nobody_took_is_taken_back_and_the_next_hook_tells(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    terminal.hook("PostToolUse", tool_name="Bash", answer="late")
    terminal.drain()
    for path in (terminal.folder / "answers").iterdir():
        os.utime(path, (1, 1))
    terminal.drain()
    assert terminal.events(Told)[-1].stage == REFUSED
    assert terminal.names("answers") == []
    terminal.hook("PostToolUse", tool_name="Bash", answer="next")
    terminal.drain()
    assert "careful" in terminal.answer("next")


def test_a_hook_that_was_killed_while_it_spoke_is_repeated_and_marked(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    terminal.hook("PostToolUse", tool_name="Bash", answer="killed")
    terminal.drain()
    answers = terminal.folder / "answers"
    (answers / "killed").rename(answers / "killed.taken")
    for path in answers.iterdir():
        os.utime(path, (1, 1))
    terminal.hook("PostToolUse", tool_name="Bash", answer="next")
    terminal.drain()
    said = terminal.answer("next")
    assert "careful" in said
    assert "perhaps" in said


@pytest.mark.parametrize("is_said", [True, False])
def test_what_became_of_an_answer_is_recorded_once_the_journal_can_be_used_again(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, *, is_said: bool
) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    terminal.hook("PostToolUse", tool_name="Bash", answer="a1")
    terminal.drain()
    if is_said:
        terminal.answer("a1")
    for path in (terminal.folder / "answers").iterdir():
        os.utime(path, (1, 1))
    with monkeypatch.context() as busy:
        busy.setattr(terminal.journal, "append", unavailable)
        terminal.drain()
    terminal.drain()
    assert terminal.events(Told)[-1].stage == (TOLD if is_said else REFUSED)
    assert terminal.names("answers") == []


def test_an_answer_is_taken_back_even_if_the_clock_was_set_back(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    terminal.comment("careful")
    terminal.hook("PostToolUse", tool_name="Bash", answer="late")
    terminal.drain()
    for path in (terminal.folder / "answers").iterdir():
        os.utime(path, (time() + 3_600, time() + 3_600))
    terminal.drain()
    assert terminal.events(Told)[-1].stage == REFUSED


def test_a_damaged_session_does_not_keep_the_others_from_the_journal(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    with closing(sqlite3.connect(terminal.folder.parent / "journal.db", isolation_level=None)) as file:
        file.execute("UPDATE events SET checksum = checksum + 1")
    terminal.todo()
    terminal.todo(session="other")
    terminal.drain()
    assert len(terminal.events(PlanSet, "other")) == 1
    assert terminal.spool.is_empty()


def test_whoever_lost_the_lock_leaves_the_rest_to_the_next(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    record = HookDrainer._record

    def slowly(drainer: HookDrainer, *arguments: Any) -> None:
        record(drainer, *arguments)
        (terminal.folder / "drainer.lock").unlink()

    terminal.todo()
    terminal.todo(session="other")
    with monkeypatch.context() as slow:
        slow.setattr(HookDrainer, "_record", slowly)
        terminal.drain()
    assert [len(terminal.events(PlanSet, each)) for each in ("abc", "other")] == [1, 0]
    terminal.drain()
    assert [len(terminal.events(PlanSet, each)) for each in ("abc", "other")] == [1, 1]


def test_a_thread_that_drains_outlasts_a_journal_that_is_busy(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.todo()
    terminal.drain()
    asked = Event()

    def busy() -> None:
        asked.set()
        unavailable()

    monkeypatch.setattr(terminal.journal, "leases", busy)
    with DrainThread(terminal.journal, terminal.folder):
        assert asked.wait(20)
        monkeypatch.undo()
        deciding.write(terminal.journal, "abc", Stamped(1, "ann", Remarked("todos", COMMENT, "careful", step="s2")))
        until(lambda: (terminal.folder / "news").is_dir() and terminal.names("news") == ["abc"])


def test_what_is_no_payload_is_answered_with_nothing(terminal: Terminal) -> None:
    for number, body in enumerate((b"", b"{", b"[1]", b"\xff\xfe", b'{"session_id": 7}', b'{"future": true}')):
        terminal.spool.append({"answer": f"a{number}"}, body)
    terminal.drain()
    assert {path.read_bytes() for path in (terminal.folder / "answers").iterdir()} == {b""}
    assert terminal.journal.sessions() == []


def test_a_segment_that_nobody_understands_does_not_stop_the_others(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    terminal.todo()
    with monkeypatch.context() as broken:
        broken.setattr(HookDrainer, "_record", fail)
        terminal.drain()
    assert [name.startswith("aside-") for name in terminal.names() if "sealed" in name] == [True]
    terminal.todo()
    terminal.drain()
    assert len(terminal.events(PlanSet)) == 1


def test_what_hooks_said_waits_until_the_journal_is_one_again(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotAJournal("another program has its schema")

    terminal.todo()
    with monkeypatch.context() as taken:
        taken.setattr(terminal.journal, "append", refuse)
        terminal.drain()
    terminal.drain()
    assert len(terminal.events(PlanSet)) == 1


@pytest.mark.parametrize("drains_between", [True, False])
def test_a_second_agent_with_the_same_id_gets_a_prefix(terminal: Terminal, drains_between: bool) -> None:
    terminal.todo()
    payload = {
        "session_id": "abc",
        "turn_id": "t",
        "transcript_path": "/home/user/.codex/sessions/2026/11/15/rollout-abc.jsonl",
        "cwd": "/work",
        "model": "m",
        "hook_event_name": "PostToolUse",
        "tool_name": "update_plan",
        "tool_input": {"plan": [{"step": "Look", "status": "pending"}]},
        "tool_response": "Plan updated",
        "tool_use_id": "c1",
    }
    if drains_between:
        terminal.drain()
    terminal.spool.append({}, json.dumps(payload).encode())
    terminal.drain()
    assert [each.id for each in terminal.journal.sessions()] == ["abc", "codex-abc"]


def test_a_cleared_context_goes_on_with_the_plan_and_hears_it(terminal: Terminal) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.hook("Stop")
    terminal.hook("SessionEnd", reason="clear")
    terminal.drain()
    terminal.hook("SessionStart", session="def", source="clear", answer="a1")
    terminal.drain()
    assert "Write" in terminal.answer("a1")
    state = load_state(terminal.journal, "def")
    assert state.opened is not None
    assert state.opened.forked is not None
    assert state.opened.forked.session == "abc"
    assert [each.session for each in terminal.journal.leases()] == ["def"]


def test_a_cleared_context_that_could_not_be_told_at_its_start_hears_the_plan_with_the_next_prompt(
    terminal: Terminal,
) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.hook("Stop")
    terminal.hook("SessionEnd", reason="clear")
    terminal.hook("SessionStart", session="def", source="clear")
    terminal.drain()
    terminal.hook("UserPromptSubmit", session="def", prompt="Go on", prompt_id="q", answer="a1")
    terminal.drain()
    told = terminal.answer("a1")
    assert "Your context was cleared" in told
    assert "Write" in told
    terminal.drain()
    terminal.hook("UserPromptSubmit", session="def", prompt="And then", prompt_id="r", answer="a2")
    terminal.drain()
    assert terminal.answer("a2") == ""


def test_the_agents_process_holds_its_session_and_its_end_ends_the_turn(terminal: Terminal) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.drain()
    [lease] = terminal.journal.leases()
    assert (lease.session, lease.terms.holder, lease.terms.is_working, lease.is_held) == ("abc", HOOK, True, True)
    terminal.die()
    end_lapsed(terminal.journal)
    assert load_state(terminal.journal, "abc").stopped == "disconnected"
    assert terminal.journal.leases() == []


def test_a_turn_ends_once_even_if_its_drainer_dies_behind_the_append(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def appended_then_dead(*arguments: Any) -> None:
        append_latest(*arguments)
        raise JournalUnavailable("this process is gone")

    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.drain()
    terminal.hook("Stop")
    with monkeypatch.context() as dying:
        dying.setattr(draining, "append_latest", appended_then_dead)
        terminal.drain()
    terminal.drain()
    terminal.hook("SessionEnd", reason="other")
    terminal.drain()
    assert [each.stop_reason for each in terminal.events(TurnEnded)] == ["end_turn"]


def test_an_agent_that_ended_behind_its_turn_was_not_disconnected(terminal: Terminal) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.todo()
    terminal.drain()
    terminal.hook("Stop")
    terminal.die()
    terminal.drain()
    end_lapsed(terminal.journal)
    assert load_state(terminal.journal, "abc").stopped == "end_turn"
    assert terminal.journal.leases() == []


def test_a_session_that_ends_is_let_go(terminal: Terminal) -> None:
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    terminal.hook("Stop")
    terminal.hook("SessionEnd", reason="prompt_input_exit")
    terminal.drain()
    assert terminal.journal.leases() == []


def test_what_is_too_large_for_a_plan_is_a_gap_in_its_session(terminal: Terminal) -> None:
    terminal.todo()
    terminal.todo([{"content": f"Step {number}", "status": "pending"} for number in range(20_000)])
    terminal.hook("PreToolUse", tool_name="ExitPlanMode", tool_input={"plan": "x" * 500_000}, prompt_id="p")
    terminal.todo([{"content": "Other", "status": "pending"}])
    terminal.drain()
    assert [each.plan.id for each in terminal.events(PlanSet)] == ["todos", "todos"]
    assert [each.count for each in terminal.events(Gap)] == [1, 1]


def test_a_record_that_is_gone_is_a_gap_in_each_session_that_it_may_have_been_of(terminal: Terminal) -> None:
    for session in ("gone", "abc", "other"):
        terminal.todo(session=session)
    spool = terminal.folder / "spool"
    spool.write_bytes(spool.read_bytes()[10:])
    terminal.drain()
    for session in ("abc", "other"):
        assert len(terminal.events(PlanSet, session)) == 1
        assert [each.count for each in terminal.events(Gap, session)] == [1]
    assert {each.id for each in terminal.journal.sessions()} == {"abc", "other"}


def test_a_record_that_is_damaged_is_a_gap_in_its_session_alone(terminal: Terminal) -> None:
    for session in ("abc", "other"):
        terminal.todo(session=session)
    spool = terminal.folder / "spool"
    spool.write_bytes(spool.read_bytes().replace(b"Write", b"Wrote", 1))
    terminal.drain()
    assert [terminal.events(PlanSet), terminal.events(Gap, "other")] == [[], []]
    assert [each.count for each in terminal.events(Gap)] == [1]


def test_what_was_lost_is_a_gap_in_its_session(terminal: Terminal) -> None:
    terminal.todo()
    terminal.drain()
    payload = json.dumps({"session_id": "abc", "tool_input": "x" * 5_000}).encode()
    assert not terminal.spool.append({}, payload, most=10)
    terminal.drain()
    terminal.drain()
    assert [each.count for each in terminal.events(Gap)] == [1]


def test_a_session_is_loaded_once_however_many_hooks_speak_of_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def noted(journal: Journal, session: str) -> SessionState:
        loaded.append(session)
        return load_state(journal, session)

    for place in ("draining", "hooked_sessions"):
        monkeypatch.setattr(f"planwire.hooks.{place}.load_state", noted)
    terminal.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p")
    for _ in range(5):
        terminal.todo()
    terminal.hook("Stop")
    terminal.drain()
    assert loaded == ["abc"]
    assert load_state(terminal.journal, "abc").stopped == "end_turn"
