"""A person's word is about the words that they saw: what is told and shown once these differ."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat.render import remark_elements
from planwire.errors import StaleRevision
from planwire.model.events import ACP, PlanChanged, PlanSet, Told
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import AGENT
from planwire.model.seen import ChangedWords, changed_since, same_words
from planwire.model.step_changes import RemoveStep, RewordStep, SetStatus
from planwire.model.unheard import news, standing
from planwire.readmodel.annotations import suggestion_sentence
from tests.steering.acting import Session

STAGING = "Delete the staging database"
PRODUCTION = "Delete the production database"


def plan(*steps: str, **statuses: str) -> ItemsPlan:
    entries = (Entry(text, "medium", statuses.get(f"s{at}", "pending")) for at, text in enumerate(steps, start=1))
    return ItemsPlan("main", tuple(entries))


def session(via: str = ACP, *steps: str) -> Session:
    return Session(plan(*(steps or ("Back up", STAGING, "Tell people"))), via)


def told(on: Session) -> str:
    """What the agent is told now, which then counts as told."""
    words = news(on.state)
    on.append(Told("prompt", words.upto, words.since, words.remarks, "p1", stale=words.stale), by="relay")
    return "\n".join(remark_elements(words.items, words.besides))


# -- what the same words are


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Build it", "2. Build it"),
        ("Build it", "[x] Build it"),
        ("Build it", "✅ Build  it"),
        ("Build it ✓", "Build it"),
        ("1. [ ] Build it", "Step 3/4: Build it"),
        ("2.1. Build it", "3: Build it"),
        ("Caf\u00e9", "Cafe\u0301"),
        ("Build\n it", "Build it"),
    ],
)
def test_words_are_the_same_without_what_is_no_part_of_them(one: str, other: str) -> None:
    assert same_words(one, other)
    assert same_words(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rm -rf ./build", "rm -rf / build"),
        ("rm -rf ./build", "rm -rf . /build"),
        (STAGING, PRODUCTION),
        ("Build it", "build it"),
        ("Build it", "Build it."),
        ("Run 2 servers", "Run 20 servers"),
        ("2 servers", "3 servers"),
        ("10.0.0.1: reboot", "10.0.0.2: reboot"),
        ("10.0.0.1) reboot", "10.0.0.2) reboot"),
        ("1.2.3: release", "1.2.4: release"),
        ("Enable it", "Disable it"),
    ],
)
def test_words_that_differ_in_anything_else_are_other_words(one: str, other: str) -> None:
    assert not same_words(one, other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_sameness_is_symmetric_and_no_text_is_the_same_as_one_with_another_letter(one: str, other: str) -> None:
    assert same_words(one, one)
    assert same_words(one, other) == same_words(other, one)
    assert same_words(one, unicodedata.normalize("NFD", one))


# -- an order about one thing never reaches the agent as an order about another


def test_a_choice_of_a_step_is_not_about_the_text_that_the_agents_next_list_has_in_its_place() -> None:
    on = session()
    on.do("select", steps=("s2",))
    on.append(PlanSet(plan("Back up", PRODUCTION, "Tell people"), via=ACP), by=AGENT)
    said = told(on)
    assert PRODUCTION not in said
    assert f'<stale step="s2" by="plan">{STAGING}</stale>' in said
    assert "<steps>" not in said
    assert "do neither a stale one nor any that was not chosen, and ask" in said


def test_a_choice_of_a_step_is_not_about_what_the_agent_rewords_it_to() -> None:
    on = session("tools")
    on.do("select", steps=("s1", "s2"))
    assert ">s1 s2<" in told(on)
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    said = told(on)
    assert f'<stale step="s2" by="plan">{STAGING}</stale>' in said, "it is news although the choice itself was told"
    assert "<steps>s1</steps>" in said
    assert told(on) == "", "once is enough"


def test_each_further_step_that_reads_differently_is_news_and_so_is_one_that_reads_as_before() -> None:
    on = session("tools")
    on.do("select", steps=("s1", "s2"))
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    assert "<steps>s1</steps>" in told(on)
    on.append(PlanChanged("main", changes=(RewordStep("s1", "Drop the backups"),)), by=AGENT)
    said = told(on)
    assert '<stale step="s1" by="plan">Back up</stale>' in said, "the order to run s1 was about other words"
    assert "<steps>" not in said
    on.append(PlanChanged("main", changes=(RewordStep("s2", STAGING),)), by=AGENT)
    assert "<steps>s2</steps>" in told(on), "people see it as chosen again"
    on.append(PlanChanged("main", changes=(SetStatus("s1", "completed"),)), by=AGENT)
    assert told(on) == "", "a step that is finished changes nothing"


def test_a_restriction_is_not_lifted_when_its_steps_are_gone() -> None:
    on = session()
    on.do("select", steps=("s2",))
    told(on)
    on.append(PlanSet(plan("Back up", "Drop every table", "Tell people"), via=ACP), by=AGENT)
    [selection] = on.record.open_remarks
    assert changed_since(selection, on.record) == (ChangedWords("s2", STAGING, None),)
    assert STAGING in told(on)


def test_a_choice_ends_once_its_steps_are_finished_even_if_they_left_the_list_by_then() -> None:
    on = session()
    on.do("select", steps=("s1", "s2"))
    on.append(PlanSet(plan("Back up", STAGING, "Tell people", s1="completed"), via=ACP), by=AGENT)
    on.append(PlanSet(plan(STAGING, "Tell people", s1="in_progress"), via=ACP), by=AGENT)
    assert on.record.open_remarks
    assert changed_since(on.record.open_remarks[0], on.record) == ()
    on.append(PlanSet(plan(STAGING, "Tell people", s1="completed"), via=ACP), by=AGENT)
    assert not on.record.open_remarks


def test_a_step_that_was_finished_and_is_open_again_under_other_words_is_not_what_was_chosen() -> None:
    on = session("tools")
    on.do("select", steps=("s1", "s2"))
    told(on)
    on.append(PlanChanged("main", changes=(SetStatus("s1", "completed"),)), by=AGENT)
    on.append(PlanChanged("main", changes=(SetStatus("s1", "pending"), RewordStep("s1", PRODUCTION))), by=AGENT)
    said = told(on)
    assert "<steps>s2</steps>" in said
    assert '<stale step="s1" by="plan">Back up</stale>' in said
    assert told(on) == "", "once is enough"
    on.append(PlanChanged("main", changes=(SetStatus("s2", "completed"),)), by=AGENT)
    assert on.record.open_remarks, "a chosen step is open again"


def test_a_chosen_step_that_its_agent_begins_under_a_form_of_its_name_stays_chosen() -> None:
    on = session(ACP, "Back up", "Implement the parser", "Tell people")
    on.do("select", steps=("s2",))
    told(on)
    on.append(PlanSet(plan("Back up", "Implementing the parser", "Tell people", s2="in_progress"), via=ACP), by=AGENT)
    assert changed_since(on.record.open_remarks[0], on.record) == ()
    assert told(on) == ""


def test_it_does_not_if_the_agent_never_heard_of_the_choice() -> None:
    on = session(ACP, "Back up", "Implement the parser", "Tell people")
    on.do("select", steps=("s2",))
    on.append(PlanSet(plan("Back up", "Implementing the parser", "Tell people", s2="in_progress"), via=ACP), by=AGENT)
    assert changed_since(on.record.open_remarks[0], on.record)


def test_it_does_not_if_the_agent_exchanges_what_the_step_is_about_although_it_has_begun() -> None:
    on = session("tools")
    on.do("select", steps=("s2",))
    told(on)
    changes = (SetStatus("s2", "in_progress"), RewordStep("s2", PRODUCTION))
    on.append(PlanChanged("main", changes=changes), by=AGENT)
    assert STAGING in told(on)


def test_a_comment_on_a_step_that_reads_differently_quotes_what_it_was_said_of() -> None:
    on = session("tools")
    on.do("comment", target="s2", text="Yes, do it without asking me again")
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    said = told(on)
    assert f'<quote by="plan">{STAGING}</quote>' in said
    assert "when it read as quoted" in said


def test_a_suggestion_for_a_step_that_reads_differently_is_told_as_stale_and_is_not_laid_over_the_step() -> None:
    on = session()
    on.do("set_status", target="s2", status="completed")
    on.append(PlanSet(plan("Back up", STAGING + " and its replicas", "Tell people"), via=ACP), by=AGENT)
    assert "do not make it, and ask" in told(on)
    on.do("set_status", target="s2", status="completed")
    assert [each.closed is None for each in on.record.remarks] == [False, True], "asked for anew, of the new words"


@pytest.mark.parametrize("via", ["tools", ACP])
def test_an_approval_that_is_told_after_a_rewording_is_said_to_be_of_other_words(via: str) -> None:
    on = session(via)
    on.do("review", verdict="approved")
    on.append(PlanSet(plan("Back up", PRODUCTION, "Tell people"), via=via), by=AGENT)
    said = told(on)
    assert ">approved</verdict>" in said
    assert "texts or steps changed since: ask again" in said
    assert told(on) == ""


def test_an_approval_of_what_the_agent_has_is_told_plainly() -> None:
    on = session("tools")
    on.do("review", verdict="approved")
    on.append(PlanChanged("main", changes=(SetStatus("s1", "in_progress"),)), by=AGENT)
    assert "ask" not in told(on)


def test_a_tick_that_is_told_after_its_step_was_reworded_is_said_to_be_older() -> None:
    on = session("tools")
    on.do("set_status", target="s2", status="in_progress")
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    on.do("set_status", target="s1", status="completed")
    older, newer = (each for each in told(on).split("<edit ") if each)
    assert "made before the step was reworded" in older
    assert "reworded" not in newer


def test_everything_that_is_retold_is_about_the_words_that_were_seen() -> None:
    on = session()
    on.do("select", steps=("s2",))
    told(on)
    on.append(PlanSet(plan("Back up", PRODUCTION, "Tell people"), via=ACP), by=AGENT)
    said = "\n".join(remark_elements(standing(on.state).items))
    assert STAGING in said
    assert PRODUCTION not in said


def test_choosing_again_what_reads_differently_is_a_new_choice() -> None:
    on = session("tools")
    on.do("select", steps=("s2",))
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    on.do("select", steps=("s2",))
    assert [each.about for each in on.record.open_remarks] == [{"s2": PRODUCTION}]


def test_the_words_are_those_that_the_person_saw_not_those_of_the_moment_of_writing() -> None:
    on = session("tools")
    seen = on.revision
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    on.do("comment", target="s2", text="fine", seen=seen)
    assert [each.about for each in on.record.open_remarks] == [{"s2": STAGING}]


def test_what_people_read_of_a_remark_names_what_its_author_saw() -> None:
    on = session()
    on.do("set_status", target="s2", status="completed")
    on.do("select", steps=("s2", "s3"))
    seen = on.revision
    on.append(PlanSet(plan("Back up", STAGING + " and the production database", "Tell people"), via=ACP), by=AGENT)
    suggestion, selection = on.record.open_remarks
    assert suggestion_sentence(on.record, suggestion) == f"“{STAGING}”: done"
    assert f"Comment added to “{STAGING}”." in on.do("comment", target="s2", text="go", seen=seen).words
    for remark, words in ((suggestion, f"“{STAGING}”: done"), (selection, f"run “{STAGING}”, “Tell people”")):
        assert on.do("withdraw", remark.id).words == f"Withdrawn: {words}"
        assert on.do("reopen", remark.id).words.startswith(f"Reopened: {words}.")


def test_a_comment_on_a_step_that_is_gone_quotes_what_its_author_saw_not_what_it_read_last() -> None:
    on = session("tools")
    seen = on.revision
    on.append(PlanChanged("main", changes=(RewordStep("s2", PRODUCTION),)), by=AGENT)
    on.append(PlanChanged("main", changes=(RemoveStep("s2"),)), by=AGENT)
    on.do("comment", target="s2", text="go", seen=seen)
    [comment] = on.record.open_remarks
    assert comment.passage is not None
    assert comment.passage.text == STAGING


@pytest.mark.parametrize("via", ["tools", ACP])
def test_what_is_sent_anyway_is_written_and_about_what_was_seen_even_if_the_plan_changes_once_more(via: str) -> None:
    on = session(via)
    seen = on.revision
    longer = STAGING + " and its replicas"
    on.append(PlanSet(plan("Back up", longer, "Tell people"), via=via), by=AGENT)
    with pytest.raises(StaleRevision):
        on.do("select", steps=("s2",), seen=seen)
    shown = on.revision
    on.append(PlanSet(plan("Back up", longer + " and production", "Tell people"), via=via), by=AGENT)
    assert on.do("select", steps=("s2",), seen=shown, anyway=True).words.startswith(f"To run: “{longer}”.")
    assert f'<stale step="s2" by="plan">{longer}</stale>' in told(on)


def test_a_list_that_is_cleared_for_a_moment_reads_as_it_did() -> None:
    on = session()
    on.do("select", steps=("s2",))
    on.append(PlanSet(ItemsPlan("main", ()), via=ACP), by=AGENT)
    assert changed_since(on.record.open_remarks[0], on.record) == ()
