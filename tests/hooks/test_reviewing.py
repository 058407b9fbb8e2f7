"""The waiting hook, as a real process on a real journal: whoever answers first wins, and a timeout is no approval."""

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from planwire.errors import JournalUnavailable, PlanError
from planwire.hooks import reviewing
from planwire.hooks.agents import HookedAgent, HookPayload
from planwire.hooks.answers import Answer, SendBack
from planwire.hooks.happenings import Chance, Decided, Happening, HookCall, Proposed, TurnBegan, TurnOver
from planwire.hooks.recording import Authored, HookedSession
from planwire.hooks.recording import record as hear
from planwire.hooks.review_terms import terms_of
from planwire.hooks.reviewing import hold_review
from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Comment,
    Event,
    Passage,
    PlanSet,
    Told,
)
from planwire.model.kinds import text_of
from planwire.model.plan import Fields, MarkdownPlan
from planwire.model.records import AGENT, OpenQuestion, PlanRecord, SessionState
from planwire.model.steps import Progress
from planwire.model.unheard import CLIENT, news
from planwire.readmodel.states import NEEDS_YOU, holds_of, is_asked, state_of
from planwire.session.lapses import end_lapsed
from planwire.session.reach import session_reach
from planwire.session.steering import Steered, steer
from planwire.session.writer import stamped
from planwire.steering.wanted import Wanted
from tests.hooks.test_claude_code import EDITED, SESSION, TEXT, hook
from tests.waiting import until

#: The hook as a process.
HOOK = Path(__file__).with_name("waiting_hook.py")
PLAN = "plan-mode"
PROPOSAL = hook("PermissionRequest", tool_name="ExitPlanMode", tool_input={"plan": TEXT, "planFilePath": "/p.md"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as journal:
        yield journal


def command(path: Path, seconds: float = 0) -> list[str]:
    return [sys.executable, "-P", str(HOOK), str(path), str(seconds)]


@contextmanager
def waiting(path: Path, payload: dict[str, Any] = PROPOSAL, seconds: float = 0) -> Iterator["subprocess.Popen[str]"]:
    """A hook that runs. It is ended, if it did not end itself."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command(path, seconds), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload))
        process.stdin.close()
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]") -> dict[str, Any] | None:
    """What the agent heard; None for nothing. The hook ends as one that did nothing wrong."""
    assert process.stdout is not None
    assert process.stderr is not None
    answer, trouble = process.stdout.read(), process.stderr.read()
    assert (process.wait(20), trouble) == (0, "")
    return json.loads(answer)["hookSpecificOutput"]["decision"] if answer else None


def record(journal: Journal) -> PlanRecord:
    return load_state(journal, SESSION).plans[PLAN]


def asked(journal: Journal, after: int = 0) -> OpenQuestion:
    """The question that a hook asks, once it does."""
    until(lambda: (now := load_state(journal, SESSION).plans.get(PLAN)) and now.asked and now.asked.seq > after)
    question = record(journal).asked
    assert question is not None
    return question


def act(journal: Journal, by: str = "ana", **arguments: Any) -> Steered:
    seen, question = record(journal).revision, record(journal).asked
    wanted = {"seen": seen, "question": question.id if question else None, **arguments}
    return steer(journal, SESSION, PLAN, Wanted("review", **wanted), by)


def append(journal: Journal, *events: Event, by: str) -> None:
    journal.append(SESSION, stamped(events, by))


def record_of(state: SessionState, *what: Happening) -> list[Authored]:
    heard = HookCall("claude-code", SESSION, "event", what=what, folder="/home/user/project")
    return hear(HookedSession(state), heard, "Claude Code", state.at)[1]


def hears(journal: Journal, *what: Happening) -> None:
    """Whoever drains hears of something that happened in the terminal."""
    for by, event in record_of(load_state(journal, SESSION), *what):
        append(journal, event, by=by)


def is_closed(journal: Journal) -> bool:
    return record(journal).asked is None


# -- a person decides elsewhere


def test_a_hook_asks_with_its_plan_and_people_can_answer(path: Path, journal: Journal) -> None:
    with waiting(path):
        question = asked(journal)
        state = load_state(journal, SESSION)
        assert (text_of(record(journal).state.plan), record(journal).owner) == (TEXT, AGENT)
        assert state.opened is not None
        assert (state.opened.agent, state.opened.client, state.opened.cwd) == (
            "Claude Code",
            "the terminal",
            "/home/user/project",
        )
        assert [each.name for each in question.options] == ["Approve", "Request changes"]
        assert question.takes_edit
        assert session_reach(journal, SESSION).can == {"answer", "words"}
        [hold] = holds_of(journal.leases()).values()
        assert state_of(state, Progress.of(()), hold, state.at, state.at) == NEEDS_YOU


def test_an_approval_is_the_answer_with_the_plan_as_it_is(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        act(journal, verdict=APPROVED)
        assert said(process) == {
            "behavior": "allow",
            "updatedInput": {"plan": TEXT, "planFilePath": "/p.md"},
        }
        now = record(journal)
        assert (now.asked, now.version) == (None, 1)
        assert now.review is not None
        assert now.review.told is not None
        assert (now.review.by, now.review.verdict) == ("ana", APPROVED)
        assert not news(load_state(journal, SESSION))
        assert journal.leases() == []


def test_an_approval_with_an_edit_brings_the_text_along(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        assert act(journal, verdict=APPROVED, edited=EDITED).words == (
            "Approved as you edited it. Queued for the agent: “Approve”."
        )
        answer = said(process)
        assert answer is not None
        assert answer["updatedInput"] == {"plan": EDITED.strip(), "planFilePath": "/p.md"}
        now = record(journal)
        assert (now.asked, now.version, now.by, now.owner) == (None, 2, "ana", AGENT)
        assert not news(load_state(journal, SESSION))


def test_a_plan_goes_back_with_all_words_of_the_review(path: Path, journal: Journal) -> None:
    proposal = {"plan": "# Plan\n\n- [ ] read\n- [ ] write <all>\n"}
    with waiting(path, {**PROPOSAL, "tool_input": proposal}) as process:
        asked(journal)
        comments = (Comment("which one?", "s2"), Comment("twice", None, Passage("Plan")))
        steered = act(journal, verdict=CHANGES_REQUESTED, text="smaller steps\nplease", comments=comments)
        assert steered.words.endswith("Your words go along.")
        answer = said(process)
        assert answer is not None
        assert answer["behavior"] == "deny"
        assert answer["message"].splitlines() == [
            '<notice by="planwire">A person reviewed your plan and asks for changes. Revise it, then propose it again.'
            "</notice>",
            '<request id="r1" by="ana" plan="plan-mode" means="change the plan before you go on">',
            "smaller steps",
            "please",
            "</request>",
            '<comment id="r2" by="ana" plan="plan-mode" step="s2">',
            '<quote by="plan">write &lt;all></quote>',
            "<text>which one?</text>",
            "</comment>",
            '<comment id="r3" by="ana" plan="plan-mode">',
            '<quote by="plan">Plan</quote>',
            "<text>twice</text>",
            "</comment>",
        ]
        until(lambda: is_closed(journal))
        assert all(each.told for each in record(journal).remarks)
        assert not news(load_state(journal, SESSION))


# -- the agent goes on without it


@pytest.mark.parametrize("text", [TEXT, EDITED], ids=["as it was", "edited there"])
def test_who_answers_in_the_terminal_first_wins_and_the_hook_says_nothing(
    path: Path, journal: Journal, text: str
) -> None:
    with waiting(path) as process:
        question = asked(journal)
        hears(journal, Decided(PLAN, True, text))
        assert said(process) is None
        now = record(journal)
        assert now.asked is None
        assert now.review is not None
        assert (now.review.verdict, now.review.revision, now.review.is_late) == (APPROVED, now.revision, False)
        assert text_of(now.state.plan).strip() == text.strip()
        with pytest.raises(
            PlanError,
            match=r"question is over: “Approve” was the answer \(someone in the terminal, as Claude Code reports\)",
        ):
            act(journal, verdict=CHANGES_REQUESTED, question=question.id, text="no")


def transcript_line(kind: str, **block: Any) -> str:
    return json.dumps({"type": kind, "isSidechain": False, "message": {"role": kind, "content": [block]}}) + "\n"


def test_a_refusal_in_claude_codes_dialog_ends_the_question_at_once(path: Path, journal: Journal) -> None:
    transcript = path.parent / "session.jsonl"
    earlier = transcript_line("assistant", type="tool_use", id="t1", name="ExitPlanMode", input={})
    earlier += transcript_line("user", type="tool_result", tool_use_id="t1", is_error=True, content="no")
    earlier += transcript_line("assistant", type="tool_use", id="t2", name="ExitPlanMode", input={})
    transcript.write_text(earlier + transcript_line("assistant", type="tool_use", id="t3", name="Read", input={}))
    with waiting(path, {**PROPOSAL, "transcript_path": str(transcript)}) as process:
        question = asked(journal)
        with transcript.open("a") as file:
            file.write(transcript_line("user", type="tool_result", tool_use_id="t3", is_error=True, content="gone"))
            no = transcript_line("user", type="tool_result", tool_use_id="t2", is_error=True, content="smaller")
            file.write(no[:40])
            file.flush()
            assert record(journal).asked == question
            file.write(no[40:])
        assert said(process) is None
    now = record(journal)
    assert (now.asked, now.review and (now.review.verdict, now.review.by)) == (
        None,
        (DISMISSED, f"{CLIENT} (as Claude Code reports)"),
    )
    with pytest.raises(PlanError, match="over"):
        act(journal, verdict=APPROVED, question=question.id)


def test_an_agent_that_goes_on_ends_the_question_and_the_hook(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        question = asked(journal)
        hears(journal, TurnBegan("never mind"))
        assert said(process) is None
        with pytest.raises(PlanError, match="The agent's question is over"):
            act(journal, verdict=APPROVED, question=question.id)


def test_a_newer_question_about_the_plan_ends_the_older_one(path: Path, journal: Journal) -> None:
    with waiting(path) as older:
        first = asked(journal)
        with waiting(path, {**PROPOSAL, "tool_input": {"plan": "# Another\n"}}) as newer:
            assert asked(journal, first.seq).id != first.id
            assert said(older) is None
            act(journal, verdict=APPROVED)
            answer = said(newer)
            assert answer is not None
            assert answer["updatedInput"] == {"plan": "# Another\n"}


# -- nobody answers


def test_a_timeout_is_no_approval(path: Path, journal: Journal) -> None:
    with waiting(path, seconds=0.5) as process:
        assert said(process) is None
        assert [each.verdict for each in record(journal).reviews] == [DISMISSED]
        assert record(journal).approval is None
        assert journal.leases() == []
        question = asked(journal)
        assert [each.name for each in question.options] == ["Approve", "Keep planning"], "the terminal asks on"
        assert not question.takes_edit


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_agent_that_ends_the_hook_closes_the_question(path: Path, journal: Journal, sign: signal.Signals) -> None:
    with waiting(path) as process:
        question = asked(journal)
        process.send_signal(sign)
        assert said(process) is None
        assert is_closed(journal)
        with pytest.raises(PlanError, match="The agent's question is over"):
            act(journal, verdict=APPROVED, question=question.id)


def test_a_hook_that_is_killed_leaves_no_question_behind(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        process.kill()
        process.wait()
        end_lapsed(journal)
        state = load_state(journal, SESSION)
        assert not state.needs_person
        assert state.stopped is None
        assert journal.leases() == []


def test_the_other_leases_of_a_session_keep_no_question_of_a_killed_hook_open(path: Path, journal: Journal) -> None:
    with journal_lease(journal), waiting(path) as process:
        asked(journal)
        process.kill()
        process.wait()
        end_lapsed(journal)
        [hold] = holds_of(journal.leases()).values()
        assert not is_asked(load_state(journal, SESSION), hold)


def is_opened(pid: int, path: Path) -> bool:
    """Whether a process has a file open, as far as the system tells."""
    folder = Path(f"/proc/{pid}/fd")
    with suppress(OSError):
        return not folder.exists() or any(each.resolve() == path for each in folder.iterdir())
    return False


@contextmanager
def journal_lease(journal: Journal) -> Iterator[None]:
    lease = journal.lease(SESSION)
    yield
    lease.release()


def test_a_hook_ends_with_the_agent_above_its_shell(path: Path, journal: Journal) -> None:
    agent = "import subprocess, sys; subprocess.run(sys.argv[1], shell=True, input=sys.argv[2], text=True)"
    line = f"{shlex.join(command(path))} || :"
    with subprocess.Popen([sys.executable, "-P", "-c", agent, line, json.dumps(PROPOSAL)]) as process:
        asked(journal)
        process.kill()
    until(lambda: is_closed(journal))
    assert record(journal).approval is None


def test_an_answer_that_nobody_takes_is_told_later(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        assert process.stdout is not None
        process.stdout.close()
        act(journal, verdict=APPROVED, edited=EDITED)
        until(lambda: is_closed(journal))
        untold = {each["said"]: each for each in news(load_state(journal, SESSION)).items}
        assert untold["verdict"]["verdict"] == APPROVED
        assert untold["set"]["text"] == EDITED.strip()


# -- other agents


def spoken(heard: HookCall, _fields: Fields, answer: Answer) -> Fields | None:
    """A dialect that has no word for an approval."""
    return {"session": heard.session, "words": answer.words} if isinstance(answer, SendBack) else None


def other_agent(name: str, *what: Happening) -> HookPayload:
    row = HookedAgent(name, name.capitalize(), lambda _fields, _names: True, lambda _fields: None, spoken)
    return HookPayload(row, {}, HookCall(name, SESSION, "Stop", Chance.REVIEW, (Proposed(PLAN, TEXT), *what)))


def test_where_silence_is_an_approval_the_plan_goes_back_when_the_time_is_up(journal: Journal) -> None:
    told: list[bytes] = []
    hold_review(journal, other_agent("gemini"), told.append, terms=replace(terms_of("gemini"), wait_seconds=0))
    assert [json.loads(each)["words"] for each in told] == [terms_of("gemini").unanswered]
    assert [each.verdict for each in record(journal).reviews] == [DISMISSED]
    assert not any(isinstance(each.event, Told) for each in journal.read(SESSION))


@pytest.mark.parametrize("name", ["claude-code", "qwen", "codex", "opencode", "copilot", "another"])
def test_elsewhere_nothing_is_said_when_the_time_is_up(journal: Journal, name: str) -> None:
    told: list[bytes] = []
    hold_review(journal, other_agent(name), told.append, terms=replace(terms_of(name), wait_seconds=0))
    assert told == []
    assert [each.verdict for each in record(journal).reviews] == [DISMISSED]
    assert is_closed(journal) is (name == "codex")


def test_where_the_person_goes_on_in_the_terminal_the_answer_says_so(path: Path, journal: Journal) -> None:
    """In Codex the hook is that of a turn that ends: silence ends it, and the question is of no turn any more."""
    told: list[bytes] = []
    payload = other_agent("codex", TurnOver("end_turn"))

    def hold() -> None:
        with open_journal(path) as other:
            hold_review(other, payload, told.append)

    thread = Thread(target=hold)
    thread.start()
    question = asked(journal)
    assert question.options[0].name == "Approve, and leave plan mode in Codex yourself"
    assert not question.takes_edit
    act(journal, verdict=APPROVED)
    thread.join(20)
    assert told == []
    now = load_state(journal, SESSION)
    assert (now.plans[PLAN].asked, now.stopped) == (None, "end_turn")
    assert now.plans[PLAN].approval is not None


# -- a journal in trouble


def test_a_journal_that_is_locked_for_a_while_delays_the_question(path: Path, journal: Journal) -> None:
    append(journal, PlanSet(MarkdownPlan(PLAN, "# Older"), via=ACP), by=AGENT)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with waiting(path) as process:
        until(lambda: is_opened(process.pid, path))
        other.execute("ROLLBACK")
        asked(journal)
        act(journal, verdict=APPROVED)
        assert said(process) is not None
        assert record(journal).version == 2


def test_a_journal_that_takes_nothing_is_tried_now_and_then(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []
    look_first = reviewing.HeldReview._look

    def full(*_: object, **__: object) -> None:
        tries.append(None)
        raise JournalUnavailable("the disk is full")

    def look(held: reviewing.HeldReview, **how: bool) -> None:
        look_first(held, **how)
        monkeypatch.setattr(journal, "append", full)  # once the question is there

    monkeypatch.setattr(reviewing, "PATIENCE", 0.3)
    monkeypatch.setattr(reviewing.HeldReview, "_look", look)
    hold_review(journal, other_agent("codex"), lambda _: None, terms=replace(terms_of("codex"), wait_seconds=0))
    assert 2 <= len(tries) <= 3


# -- what the agent got


def test_what_the_agent_has_from_planwire_is_a_receipt_or_no_news(path: Path, journal: Journal) -> None:
    with waiting(path) as process:
        asked(journal)
        act(journal, verdict=APPROVED, edited=EDITED)
        state = load_state(journal, SESSION)
        if state.needs_person:
            receipt = record_of(state, Decided(PLAN, True, EDITED))
            assert [(type(event), by) for by, event in receipt] == [(Told, CLIENT)]
        assert said(process) is not None
        assert record_of(load_state(journal, SESSION), Decided(PLAN, True, EDITED)) == []
