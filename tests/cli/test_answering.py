"""People at the command line whom an agent asks: which plan and which option they mean, and what they are asked."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.protocol import Lease, Terms
from planwire.model.events import ACP, Choice, Event, PlanSet, ReviewAsked, SessionOpened, StopAsked, TellAsked
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.records import PlanRecord
from tests import deciding
from tests.cli.answers import Answer, answer
from tests.journals import HOSTILE

YES, NO = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")
ALWAYS, ASK = Choice("always", "Yes, always", "allow_always"), Choice("ask", "Yes, ask me", "allow_once")
#: A time after those at which people act here, so that the session that began last is the latest.
LATER = 10_000_000_000_000
IDLE = Terms("relay", can=("answer", "tell", "stop"))
WORKING = Terms("relay", is_working=True, can=IDLE.can)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.chdir(tmp_path)
    with open_journal(tmp_path / "default.db") as journal:
        yield journal


def propose(journal: Journal, plan_id: str, *options: Choice, session: str = "s1") -> None:
    """A proposal, and a question about it if there are options."""
    events: list[Event] = [PlanSet(MarkdownPlan(plan_id, f"# The {plan_id} plan\n"), via=ACP)]
    if options:
        events.append(ReviewAsked(plan_id, options, f"about-{plan_id}"))
    if not journal.last_seq(session):
        events.insert(0, SessionOpened("agent 1", "Zed 1.2", str(Path.cwd())))
    at = LATER + len(journal.sessions())
    deciding.write(journal, session, *(Stamped(at, "agent", event) for event in events))


def hold(journal: Journal, terms: Terms = IDLE) -> Lease:
    return journal.lease("s1", terms)


def typing(words: str, *arguments: str) -> Answer:
    return answer(*arguments, at_terminal=True, typed=words)


def plan(journal: Journal, plan_id: str = "new") -> PlanRecord:
    return load_state(journal, "s1").plans[plan_id]


def test_a_person_is_asked_before_the_plain_option_is_sent(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", ALWAYS, YES, NO)
    assert "Send “Yes” to the agent?" in typing("n\n", "approve").out
    assert plan(journal).decision is None
    assert "Send “No” to the agent?" in typing("n\n", "approve", "--changes").out
    assert "Send “Yes, always” to the agent?" in typing("n\n", "approve", "--option", "yes, ALWAYS").out
    assert "Queued for the agent: “Yes”." in typing("y\n", "approve").out
    decision = plan(journal).decision
    assert decision is not None
    assert (decision.option, decision.by, decision.question) == ("yes", "user", "about-new")
    assert typing("y\n", "approve").out.endswith("user answered already: “Yes”.\n")


def test_a_person_chooses_where_no_option_is_plain(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", YES, ASK, NO)
    for nothing in ("\n", "3\n", "none\n", ""):
        refused = typing(nothing, "approve")
        assert (refused.code, refused.err) == (NOT_DONE, "planwire: nothing was sent\n")
        assert "  1  Yes\n  2  Yes, ask me\n" in refused.out
    assert "Queued for the agent: “Yes, ask me”." in typing("2\n", "approve").out


def test_what_can_not_be_asked_is_an_error_that_names_the_options(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", YES, ASK, NO)
    words = "choose an answer: pass --option with one of 'yes' (Yes), 'ask' (Yes, ask me)"
    for where in (["--yes"], ["--revision", "2", "--yes"]):
        refused = typing("1\n", "approve", *where)
        assert (refused.code, refused.err) == (USAGE, f"planwire: {words}. Nothing was sent\n")
    assert answer("approve", "--option", "yes").code == USAGE, "without a terminal it needs a name and a yes"
    unknown = typing("", "approve", "--option", "perhaps", "--yes")
    assert (unknown.code, unknown.err) == (
        USAGE,
        "planwire: the agent does not offer “perhaps”. It offers: “Yes”, “Yes, ask me”, “No”\n",
    )
    assert plan(journal).decision is None


def test_of_options_with_one_name_a_person_chooses_by_id(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", YES, Choice("-2", "Yes", "allow_once"), NO)
    refused = typing("", "approve", "--option", "yes, please", "--yes")
    assert "does not offer “yes, please”" in refused.err
    refused = typing("", "approve", "--option", "Yes", "--yes")
    assert "pass --option with one of 'yes' (Yes), '-2' (Yes). Nothing was sent" in refused.err
    assert "planwire approve s1 --option=-2" in answer("show", "s1").out
    assert "Queued for the agent" in typing("", "approve", "--option=-2", "--yes").out
    decision = plan(journal).decision
    assert decision is not None
    assert decision.option == "-2"


def test_a_question_without_options_is_answered_where_it_is_asked(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new")
    journal.append("s1", [Stamped(LATER, "agent", ReviewAsked("new", (), "about-new"))])
    shown = answer("show", "s1").out
    assert "The agent asks for approval in Zed" in shown
    assert "planwire approve" not in shown
    assert typing("", "approve", "--yes").out == "Approved. The agent will see it with the next prompt in Zed.\n"
    assert plan(journal).needs_person, "the agent has no answer"


def test_words_with_a_no_are_in_sight_until_the_agent_hears_them(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", YES, NO)
    typing("", "approve", "--changes", "--comment", "smaller steps", "--yes")
    assert "not heard by the agent yet: 1   (planwire tell --session s1)" in answer("show", "s1").out


def test_the_commands_for_a_session_whose_id_looks_like_an_option_can_be_copied(journal: Journal) -> None:
    lease = journal.lease("-s 1", IDLE)
    propose(journal, "new", YES, NO, session="-s 1")
    command = "planwire approve '--session=-s 1' --changes"
    assert command in answer("show").out
    said = typing("", *shlex.split(command)[1:], "--comment", "smaller steps", "--yes")
    assert (said.code, said.err) == (DONE, "")
    tell = "planwire tell --session='-s 1'"
    assert f"not heard by the agent yet: 1   ({tell})" in answer("show").out
    assert typing("", *shlex.split(tell)[1:], "--yes").out == "The agent hears it now.\n"
    lease.release()


def test_all_answers_have_their_command(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", *(Choice(f"o{number}", f"Option {number}", "allow_once") for number in range(12)))
    shown = answer("show", "s1").out
    assert re.findall("--option (o[0-9]+)$", shown, re.MULTILINE) == [f"o{number}" for number in range(12)]


def test_a_verdict_is_on_the_plan_that_the_agent_asks_about(journal: Journal) -> None:
    hold(journal)
    propose(journal, "main")
    propose(journal, "new", YES, NO)
    assert typing("", "approve", "--yes").out == "Approved. Queued for the agent: “Yes”.\n"
    assert not plan(journal, "main").reviews
    propose(journal, "newer", YES, NO)
    assert typing("", "approve", "--yes").out == "Approved. Queued for the agent: “Yes”.\n"
    assert plan(journal, "newer").decision


def test_of_several_plans_that_the_agent_asks_about_a_person_names_one(journal: Journal) -> None:
    hold(journal)
    propose(journal, "main")
    for plan_id in ("a", "b"):
        listed = PlanSet(ItemsPlan(plan_id, (Entry("Look", "medium", "pending"),)), via=ACP)
        question = ReviewAsked(plan_id, (YES, NO), f"about-{plan_id}")
        deciding.write(journal, "s1", *(Stamped(1, "agent", event) for event in (listed, question)))
    several = typing("", "approve", "--yes")
    assert (several.code, several.err) == (
        USAGE,
        "planwire: the session has 3 plans: pass --plan with one of 'a', 'b', 'The main plan'\n",
    )
    assert typing("", "approve", "--yes", "--plan", "b").code == DONE


def test_a_verdict_is_for_the_session_here_that_asks_if_the_latest_does_not(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", YES, NO)
    propose(journal, "main", session="s2")
    assert typing("", "approve", "--yes").out == "Approved. Queued for the agent: “Yes”.\n"
    assert plan(journal).decision
    propose(journal, "new", YES, NO, session="s3")
    journal.lease("s3", IDLE)
    propose(journal, "main", session="s4")
    several = typing("", "approve", "--yes")
    assert several.code == USAGE
    assert several.err.startswith("planwire: 2 sessions of this folder need you: pass the one that you mean\n")
    assert typing("", "approve", "s3", "--yes").code == DONE


def test_a_question_that_only_the_editor_can_answer_says_so(journal: Journal) -> None:
    propose(journal, "new", YES, NO)
    assert "◆ The agent asks for approval in Zed:  Yes  /  No" in answer("show").out
    refused = typing("", "approve", "--option", "yes", "--yes")
    assert (refused.code, refused.err) == (
        NOT_DONE,
        "planwire: the answer was not sent: this question can only be answered in Zed\n",
    )
    assert "with the next prompt in Zed" in typing("", "approve", "--yes").out


def test_a_person_is_asked_before_a_turn_is_cancelled(journal: Journal) -> None:
    propose(journal, "main")
    hold(journal, WORKING)
    for command in (["tell", "wait"], ["comment", "wait", "--now"], ["approve", "--now", "--revision", "2"]):
        before = journal.last_seq("s1")
        asked = typing("n\n", *command)
        assert (asked.code, asked.err) == (NOT_DONE, "planwire: nothing was said\n")
        assert "cancel the turn? [y/N]" in asked.out
        assert journal.last_seq("s1") == before
    assert typing("y\n", "tell", "  ").code == USAGE
    assert typing("y\n", "tell", "wait").code == DONE
    assert [*journal.read("s1")][-1].event == TellAsked(interrupt=True)
    assert typing("", "comment", "and look", "--interrupt", "--yes").code == DONE
    assert [*journal.read("s1")][-1].event == TellAsked(interrupt=True)


def test_a_person_is_asked_before_an_agent_is_stopped(journal: Journal) -> None:
    propose(journal, "main")
    refused = typing("y\n", "stop")
    assert (refused.code, refused.out) == (NOT_DONE, ""), "what can't be done is not asked"
    assert "can't be stopped from here" in refused.err
    hold(journal, WORKING)
    asked = typing("n\n", "stop")
    assert asked.code == NOT_DONE
    assert "Stop the agent's turn? [y/N]" in asked.out
    assert typing("y\n", "stop").out.endswith("The agent is told to stop.\n")
    assert [*journal.read("s1")][-1].event == StopAsked()


def test_lists_say_what_is_asked_and_which_command_answers(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", ALWAYS, YES, NO)
    assert answer("sessions").out.splitlines()[1].endswith("Approve “The new plan”? Yes, always / Yes / No")
    shown = answer("show").out
    for command in ("s1 --option always", "s1", "s1 --changes"):
        assert f" planwire approve {command}\n" in shown
    typing("", "approve", "--yes", "--as", "ana")
    assert "Ana answered “Yes”: on its way to the agent" in answer("show").out
    assert "On its way to the agent: “Yes”" in answer("sessions").out


def test_options_of_a_hostile_agent_do_no_harm(journal: Journal) -> None:
    hold(journal)
    propose(journal, "new", Choice(HOSTILE, HOSTILE, "allow_once"), Choice("$(id); x", "", "reject_once"))
    for command in ("show", "sessions", "approve"):
        said = typing("n\n", command)
        assert not {"\x1b", "\u202e"} & {*said.out, *said.err}
    assert "planwire approve s1 --changes" in answer("show").out


def test_a_shell_completes_the_options_of_the_open_question(journal: Journal) -> None:
    hold(journal)
    propose(journal, "main")
    propose(journal, "new", ALWAYS, NO, Choice("$(id)", "Odd", "allow_once"))
    offered = answer("completion", "--ids", "options", "bash", "planwire", "approve", "s1", "--option")
    assert offered.out.split() == ["always", "no"]


def test_elsewhere_the_only_session_that_needs_a_person_is_meant_once_they_are_shown_it(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(journal)
    propose(journal, "new", YES, NO)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for unseen in (["--yes"], ["--revision", "2"]):
        assert typing("", "approve", "--journal", str(tmp_path / "default.db"), *unseen).code == NOT_FOUND
    assert "The new plan" in typing("n\n", "approve").out
    assert plan(journal).decision is None
    assert "Queued for the agent: “Yes”." in typing("y\n", "approve").out
    assert typing("y\n", "tell", "faster").code == NOT_FOUND, "only an answer has a question that it belongs to"
    journal.lease("s2", IDLE)
    journal.append(
        "s2",
        [
            Stamped(LATER, "agent", each)
            for each in (
                SessionOpened(),
                PlanSet(MarkdownPlan("new", "# Other"), via=ACP),
                ReviewAsked("new", (YES, NO), "q"),
            )
        ],
    )
    assert typing("y\n", "approve").code == NOT_FOUND, "two need a person"
