"""Why a plan is as it is: from thoughts beside the journal, and from the words in a chat that it keeps."""

import pytest

from planwire import ItemsPlan
from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Stamped, load_state, state_at
from planwire.journal.thoughts import kept_why
from planwire.model.events import Event, MessageAdded, PlanChanged, PlanSet, TurnEnded
from planwire.model.plan import Entry
from planwire.model.step_changes import SetStatus
from planwire.readmodel.file_text import no_plan_files
from planwire.readmodel.rationale import BATCH, LOOK_BACK, Reasons
from planwire.readmodel.timeline import moments_of
from planwire.readmodel.whys import REACH
from tests import deciding

STEP = SetStatus("s1", "in_progress"), SetStatus("s1", "pending")


def a_plan(*names: str, plan_id: str = "p", why: str = "", reader: str = "") -> PlanSet:
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(name, "low", "pending") for name in names)), why=why, reader=reader)


def a_change(number: int = 0, why: str = "") -> PlanChanged:
    return PlanChanged("p", None, (STEP[number % 2],), why)


def said(words: str, role: str = "assistant", reader: str = "") -> MessageAdded:
    return MessageAdded({"role": role, "content": words}, reader)


def write(journal: Journal, *events: Event, by: str = "agent") -> None:
    deciding.write(journal, "s", *(Stamped(1, by, event) for event in events))


def reasons(journal: Journal) -> dict[str | None, str]:
    return Reasons(journal).of(load_state(journal, "s"))


def history(journal: Journal) -> dict[int, str]:
    """The reasons in the history of a session, by the numbers of their events."""
    entries = Reasons(journal).with_whys(moments_of(journal, "s", no_plan_files))
    return {entry.seq: entry.why for entry in entries if entry.why}


def test_a_session_with_the_name_of_a_forgotten_one_has_reasons_of_its_own(journal: Journal) -> None:
    reasons = Reasons(journal)
    for at, words in ((1, "the old reason"), (2, "the new reason")):
        message = MessageAdded({"role": "assistant", "content": words})
        deciding.write(journal, "s", Stamped(at, "agent", message), Stamped(at, "agent", PlanSet(ItemsPlan("p", ()))))
        assert reasons.of(load_state(journal, "s")) == {"p": words}
        journal.forget("s")


def test_thoughts_are_the_why_of_a_plan_and_of_each_change(journal: Journal) -> None:
    first, second = kept_why(journal, "s", "one"), kept_why(journal, "s", "two")
    write(journal, a_plan("a", why=first), a_change(0, second), a_change(1))
    assert reasons(journal) == {"p": "two"}
    assert history(journal) == {1: "one", 2: "two"}


def test_the_last_why_stays_when_the_next_version_has_none(journal: Journal) -> None:
    write(journal, a_plan("a", why=kept_why(journal, "s", "thought")), a_plan("a", "b"))
    write(journal, said("words"), a_plan("a", plan_id="q"), said("other words", "user"), a_plan("b", plan_id="q"))
    assert reasons(journal) == {"p": "thought", "q": "words"}


@pytest.mark.parametrize("count", [10, 2 * LOOK_BACK])
def test_the_last_why_stays_however_many_changes_have_none(journal: Journal, count: int) -> None:
    write(journal, said("words"), a_plan("a"), a_plan("b", plan_id="q", why=kept_why(journal, "s", "thought")))
    looking = Reasons(journal)
    assert looking.of(load_state(journal, "s")) == {"p": "words", "q": "thought"}
    write(journal, *(a_change(number) for number in range(count)))
    assert reasons(journal) == looking.of(load_state(journal, "s")) == {"p": "words", "q": "thought"}


def test_the_past_has_the_reasons_of_its_time(journal: Journal) -> None:
    digests = [kept_why(journal, "s", word) for word in ("one", "two")]
    write(journal, *(a_plan(digest[:4], why=digest) for digest in digests))
    looking = Reasons(journal)
    for seq, word in ((2, "two"), (1, "one"), (2, "two")):
        assert looking.of(state_at(journal, "s", seq)) == {"p": word}


def test_thoughts_that_are_forgotten_are_shown_no_more_and_nothing_stands_in_for_them(journal: Journal) -> None:
    write(journal, a_plan("a", why=kept_why(journal, "s", "thought")))
    looking, state = Reasons(journal), load_state(journal, "s")
    assert looking.of(state) == {"p": "thought"}
    glance = looking.glance()
    journal.thoughts.forget("s")
    assert looking.of(state) == {}
    assert looking.glance() != glance
    assert history(journal) == {}


def test_trouble_with_thoughts_costs_nothing_else(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise JournalUnavailable("no")

    write(journal, a_plan("a", why=kept_why(journal, "s", "thought")), said("words"), a_plan("b", plan_id="q"))
    monkeypatch.setattr(journal.thoughts, "find", fail)
    monkeypatch.setattr(journal.thoughts, "glance", fail)
    assert reasons(journal) == {"q": "words"}
    assert Reasons(journal).glance() is None


def test_thoughts_are_not_for_everybody(journal: Journal) -> None:
    write(journal, a_plan("a", why=kept_why(journal, "s", "thought")), said("words"), a_plan("b", plan_id="q"))
    assert Reasons(journal, thoughts=False).of(load_state(journal, "s")) == {"q": "words"}


def test_a_long_history_has_all_of_its_reasons(journal: Journal) -> None:
    count = 2 * BATCH + 10
    digests = [kept_why(journal, "s", f"{number}") for number in range(3)]
    write(journal, a_plan("a"), *(a_change(number, digests[number % 3]) for number in range(count)))
    assert history(journal) == {number + 2: f"{number % 3}" for number in range(count)}


# Words in a chat


def test_the_message_right_before_a_change_is_its_why(journal: Journal) -> None:
    write(journal, said("First."), a_plan("a"), said("Then."), a_change())
    assert history(journal) == {2: "First.", 4: "Then."}


def test_words_of_one_message_count_once(journal: Journal) -> None:
    write(journal, said("First."), a_plan("a"), a_change())
    assert history(journal) == {2: "First."}


def test_a_change_of_a_person_has_no_words_of_the_agent(journal: Journal) -> None:
    write(journal, a_plan("a"), said("First."))
    write(journal, a_change(), by="ana")
    write(journal, a_change(1))
    assert history(journal) == {4: "First."}


def test_words_before_those_of_the_user_are_about_something_else(journal: Journal) -> None:
    write(journal, said("First."), said("And now?", "user"), a_plan("a"))
    assert history(journal) == {}


@pytest.mark.parametrize(("gap", "expected"), [(REACH - 1, {"p": "First."}), (REACH, {})])
def test_words_reach_no_further_than_a_few_events(journal: Journal, gap: int, expected: dict[str, str]) -> None:
    write(journal, said("First."), *[TurnEnded("x")] * gap, a_plan("a"))
    assert reasons(journal) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "assistant", "reasoning_content": "Thought.", "content": "Said."}], "Thought.\nSaid."),
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": "Thought."}, {"text": "Said."}]}], None),
        ([{"role": "model", "parts": [{"text": "Thought.", "thought": True}, {"text": "Said."}]}], None),
        ([{"type": "reasoning", "summary": [{"text": "Thought."}]}, {"role": "assistant", "content": "Said."}], None),
        ([{"type": "reasoning", "summary": []}, {"role": "assistant", "content": "Thought.\nSaid."}], None),
    ],
    ids=["openai", "anthropic", "gemini", "responses", "responses without words"],
)
def test_each_provider_has_another_place_for_words(
    journal: Journal, messages: list[dict[str, object]], expected: str | None
) -> None:
    call: dict[str, object] = {"type": "function_call", "name": "set_plan"}
    write(journal, *(MessageAdded(each) for each in (*messages, call)), a_plan("a"))
    assert reasons(journal) == {"p": expected or "Thought.\nSaid."}


def test_words_before_a_tool_answered_are_not_the_last_ones(journal: Journal) -> None:
    write(journal, said("First."), said("done", "tool"), said("Then."), a_plan("a"))
    assert reasons(journal) == {"p": "Then."}


def test_a_child_has_its_own_words(journal: Journal) -> None:
    write(journal, a_plan("a"), said("the child's", reader="c"), said("the parent's"))
    write(journal, a_plan("x", plan_id="c", reader="c"), a_change())
    write(journal, said("more of the child's", reader="c"), PlanChanged("c", None, STEP[:1]))
    assert history(journal) == {4: "the child's", 5: "the parent's", 7: "more of the child's"}
