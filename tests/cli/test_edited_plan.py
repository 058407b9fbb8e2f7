"""People at the command line who edit a plan before they approve it: in an editor, or from a file."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE, USAGE
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.protocol import Terms
from planwire.model.events import ACP, APPROVED, Choice, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.model.kinds import text_of
from planwire.model.plan import MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.own_process import own_command
from tests import deciding
from tests.cli.answers import Answer, answer
from tests.cli.test_steering_commands import an_editor

OPTIONS = Choice("approve", "Approve", "allow_once"), Choice("changes", "Request changes", "reject_once")
PROSE = "# Cache\n\nWe move the cache to Redis.\n"
EDITED = "# Cache\n\nWe keep the cache."
ASK = "Send “Approve” to the agent, with the plan as you edited it?"


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.chdir(tmp_path)
    with open_journal(tmp_path / "default.db") as journal:
        yield journal


def hold(journal: Journal, *, takes_edit: bool = True) -> None:
    """A hook holds a plan back."""
    events = (
        SessionOpened("Claude Code", "Claude Code", str(Path.cwd())),
        PlanSet(MarkdownPlan("plan-mode", PROSE), via=ACP),
        ReviewAsked("plan-mode", OPTIONS, "q1", takes_edit),
    )
    deciding.write(journal, "s1", *(Stamped(1_000, "agent", each) for each in events))
    journal.lease("s1", Terms("hook", can=("answer", "words"), question="q1"))


def plan(journal: Journal) -> PlanRecord:
    return load_state(journal, "s1").plans["plan-mode"]


def typing(words: str, *arguments: str) -> Answer:
    return answer("approve", *arguments, at_terminal=True, typed=words)


def editing(tmp_path: Path) -> list[str]:
    return [
        "--edit",
        "--editor",
        an_editor(tmp_path, "text = text.replace('move the cache to Redis', 'keep the cache')"),
    ]


def test_a_plan_is_edited_in_an_editor_and_approved(journal: Journal, tmp_path: Path) -> None:
    hold(journal)
    assert "planwire approve s1 --edit" in answer("show", "s1").out
    done = typing("y\n", *editing(tmp_path))
    assert done.code == DONE, done.err
    assert ASK in done.out
    assert done.out.endswith("Approved as you edited it. Queued for the agent: “Approve”.\n")
    now = plan(journal)
    assert (text_of(now.state.plan), now.by, now.version) == (EDITED, "user", 2)
    [*_, edited, _] = answer("log", "s1").out.splitlines()
    assert "you       “Cache”  ≈ text rewritten" in edited


def test_what_a_person_wrote_is_printed_if_it_was_not_sent(journal: Journal, tmp_path: Path) -> None:
    hold(journal)
    refused = typing("n\n", *editing(tmp_path))
    assert (refused.code, plan(journal).version) == (NOT_DONE, 1)
    assert refused.err == f"planwire: nothing was changed. What you wrote:\n{EDITED}\n"
    over = an_editor(
        tmp_path,
        "text = 'late'\n"
        "from planwire.journal import Stamped, open_journal\n"
        "from planwire.model.events import PlanReviewed\n"
        "review = PlanReviewed('plan-mode', 2, 'approved', question='q1', answer='Approve')\n"
        f"with open_journal({str(tmp_path / 'default.db')!r}) as journal:\n"
        "    journal.append('s1', [Stamped(2_000, 'client', review)])",
    )
    refused = typing("y\n", "--edit", "--editor", over)
    assert refused.code == NOT_DONE
    assert "“Approve” was the answer (someone in Claude Code)" in refused.err
    assert refused.err.endswith("What you wrote:\nlate\n")


def test_a_plan_is_approved_as_a_file_has_it(journal: Journal, tmp_path: Path) -> None:
    hold(journal)
    (tmp_path / "plan.md").write_text(EDITED)
    (tmp_path / "odd.md").write_bytes(b"\xff")
    assert typing("", "--text-file", "odd.md", "--yes").code == USAGE
    assert typing("", "--text-file", "none.md", "--yes").code == USAGE
    done = typing("", "--text-file", "plan.md", "--yes", "--comment", "as discussed")
    assert done.code == DONE, done.err
    assert done.out.startswith("Approved as you edited it, with 1 comment. Queued for the agent: “Approve”.")
    assert text_of(plan(journal).state.plan) == EDITED


def test_a_plan_is_approved_as_standard_input_has_it(journal: Journal, tmp_path: Path) -> None:
    hold(journal)
    words = ["approve", "s1", "--text-file", "-", "--as", "ana", "--yes", "--journal"]
    command = [*own_command(), *words, str(tmp_path / "default.db")]
    subprocess.run(command, input=EDITED, text=True, check=True, capture_output=True)
    assert (text_of(plan(journal).state.plan), plan(journal).by) == (EDITED, "ana (by a script)")


def test_an_editor_is_not_opened_for_nothing(journal: Journal, tmp_path: Path) -> None:
    hold(journal, takes_edit=False)
    started = ["--edit", "--editor", f"{sys.executable} -P -c \"open('started', 'w')\""]
    refused = typing("y\n", *started)
    assert refused.code != DONE
    assert "the agent doesn't take an edited plan: approve it as it is, or request changes" in refused.err
    assert typing("y\n", "--changes", *started).code == USAGE
    assert not (tmp_path / "started").exists()
    assert "--edit" not in answer("show", "s1").out


def test_without_a_terminal_no_editor_is_opened(journal: Journal) -> None:
    hold(journal)
    refused = answer("approve", "--edit", "--as", "ana", "--yes")
    assert (refused.code, "pass --text-file or --editor" in refused.err) == (NOT_DONE, True)


def test_of_two_people_the_second_hears_who_was_first(journal: Journal, tmp_path: Path) -> None:
    hold(journal)
    review = PlanReviewed("plan-mode", 2, APPROVED, via="planwire", question="q1", answer="Approve", option="approve")
    deciding.write(journal, "s1", Stamped(2_000, "ana", review))
    assert "the agent doesn't take an edited plan" in typing("y\n", *editing(tmp_path)).err
