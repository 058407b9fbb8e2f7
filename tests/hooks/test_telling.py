"""What an agent is told through its hooks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks.happenings import Chance, Child, Compacted, Happening, HookCall, ListHeard, OwnCall, Started
from planwire.hooks.recording import HookedSession, record
from planwire.hooks.telling import MOST_BYTES, to_tell
from planwire.model.events import COMMENT, OFFERED, TOLD, Event, Recorded, Remarked, Told
from planwire.model.plan import Entry
from planwire.model.records import HOOK, RECAP, SessionState
from tests.deciding import fold


def hook(moment: Chance, *what: Happening, child: Child | None = None) -> HookCall:
    return HookCall("claude-code", "s", "Event", moment, what, child=child)


def planned(*contents: str, status: str = "pending", child: Child | None = None) -> SessionState:
    """A session with a list of steps."""
    heard = hook(Chance.TOOL, ListHeard("todos", tuple(Entry(each, None, status) for each in contents)), child=child)
    session, _ = record(HookedSession(SessionState("s")), heard, "Claude Code", 1)
    return session.state


def after(state: SessionState, event: Event, by: str = "ann") -> SessionState:
    return fold(state, Recorded(state.id, state.seq + 1, 2, by, event))


def commented(state: SessionState, text: str, plan_id: str = "todos") -> SessionState:
    return after(state, Remarked(plan_id, COMMENT, text, step="s1"))


TOOL = hook(Chance.TOOL)
COMPACT = hook(Chance.START, Compacted())


def test_nothing_is_told_where_there_is_nothing_to_tell() -> None:
    assert to_tell(planned("Read"), TOOL, "a") is None
    assert to_tell(SessionState("s"), hook(Chance.PROMPT), "a") is None


def test_an_agent_that_begins_hears_of_the_tools() -> None:
    told = to_tell(SessionState("s"), hook(Chance.START, Started("startup")), "a")
    assert told is not None
    assert "set_plan" in told.text
    assert told.told is None


@pytest.mark.parametrize("moment", [Chance.PASSIVE, Chance.CALL, Chance.REVIEW])
def test_a_hook_that_nobody_hears_tells_nothing(moment: Chance) -> None:
    assert to_tell(commented(planned("Read"), "careful"), hook(moment), "a") is None


def test_the_tools_tell_it_themselves() -> None:
    state = commented(planned("Read"), "careful")
    assert to_tell(state, hook(Chance.TOOL, OwnCall("get_plan")), "a") is None


@pytest.mark.parametrize("moment", [Chance.PROMPT, Chance.TOOL])
def test_what_a_person_says_is_told_once(moment: Chance) -> None:
    state = commented(planned("Read"), "careful")
    told = to_tell(state, hook(moment), "a")
    assert told is not None
    assert told.told == Told(HOOK, state.seq, 0, ("r1",), "a", OFFERED)
    assert '<comment id="r1" by="ann" plan="todos" step="s1">careful</comment>' in told.text
    assert "<plan " not in told.text  # it has the plan in its context
    heard = after(state, Told(HOOK, state.seq, 0, ("r1",), "a", TOLD))
    assert to_tell(heard, hook(moment), "b") is None


def test_of_parallel_hooks_one_tells() -> None:
    state = commented(planned("Read"), "careful")
    first = to_tell(state, TOOL, "a")
    assert first is not None
    assert first.told is not None
    assert to_tell(state, TOOL, "b", [first.told]) is None


@pytest.mark.parametrize("what", [Compacted(), Started("resume"), Started("clear")])
def test_a_context_that_may_lack_the_plan_gets_it_with_all_open_words(what: Happening) -> None:
    state = commented(planned("Read", "Write"), "careful")
    heard = after(state, Told(HOOK, state.seq, 0, ("r1",), "a", TOLD))
    told = to_tell(heard, hook(Chance.START, what), "b")
    assert told is not None
    assert "Read" in told.text
    assert "careful" in told.text
    assert told.told is not None
    assert told.told.way == RECAP


def test_a_compaction_that_no_hook_told_of_is_made_good_by_the_next() -> None:
    state = planned("Read")
    session, _ = record(HookedSession(state), hook(Chance.PASSIVE, Compacted()), "Gemini CLI", 3)
    told = to_tell(session.state, hook(Chance.PROMPT), "a")
    assert told is not None
    assert "Your context was compacted" in told.text
    assert told.told is not None
    assert to_tell(session.state, hook(Chance.PROMPT), "b", [told.told]) is None
    heard = after(session.state, Told(RECAP, told.told.upto, 0, (), "a", TOLD))
    assert to_tell(heard, hook(Chance.PROMPT), "b") is None


def test_the_hooks_of_a_child_tell_only_what_is_about_it() -> None:
    child = Child("a1")
    lead = planned("Lead step")
    session, _ = record(
        HookedSession(lead),
        hook(Chance.TOOL, ListHeard("todos", (Entry("Look", None, "pending"),)), child=child),
        "x",
        3,
    )
    state = commented(session.state, "for the lead")
    assert to_tell(state, hook(Chance.TOOL, child=child), "a") is None
    state = commented(state, "for the child", "todos@a1")
    told = to_tell(state, hook(Chance.TOOL, child=child), "b")
    assert told is not None
    assert "for the child" in told.text
    assert "for the lead" not in told.text
    lead_told = to_tell(state, TOOL, "c")
    assert lead_told is not None
    assert "for the child" not in lead_told.text


def test_of_a_long_plan_the_open_steps_are_told() -> None:
    done = tuple(Entry(f"Finished step number {n} {'x' * 60}", None, "completed") for n in range(200))
    left = tuple(Entry(f"Open step {n}", None, "pending") for n in range(20))
    session, _ = record(
        HookedSession(SessionState("s")), hook(Chance.TOOL, ListHeard("todos", (*done, *left))), "Claude Code", 1
    )
    told = to_tell(session.state, COMPACT, "a")
    assert told is not None
    assert len(told.text.encode()) <= MOST_BYTES
    assert all(f"Open step {n}<" in told.text for n in range(20))
    assert "finished steps are left out: get_plan has them" in told.text


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4_000)


@given(contents=st.lists(TEXTS, min_size=1, max_size=8), words=st.lists(TEXTS, max_size=4), status=st.text(max_size=9))
def test_no_text_is_longer_than_any_agent_takes(contents: list[str], words: list[str], status: str) -> None:
    state = planned(*contents, status=status)
    for each in words:
        state = commented(state, each)
    for heard in (TOOL, COMPACT):
        told = to_tell(state, heard, "a")
        assert told is None or len(told.text.encode()) <= MOST_BYTES
