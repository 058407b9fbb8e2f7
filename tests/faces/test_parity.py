"""Every act means the same by command line, over HTTP and in the terminal: the same event, the same card."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pytest

from planwire.journal import Stamped, open_journal
from planwire.journal.protocol import Terms
from planwire.model.events import ACP, Choice, Event, PlanSet, ReviewAsked, SessionOpened
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.model.step_changes import AddStep
from planwire.readmodel.as_json import plan_json
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import load_session
from planwire.session.named_folders import note_folders
from planwire.steering.acts import ACTS
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.faces.acting import Act, by_command_line, by_http, by_keys, edited, editor_script

LIST = ItemsPlan(
    "main",
    (
        Entry("Read the code", "medium", "completed"),
        Entry("Write a test", "medium", "in_progress"),
        Entry("Mend it", "medium", "pending"),
        Entry("Tell people", "medium", "cancelled"),
    ),
)
TEXT = MarkdownPlan("main", "# Parser\n\n- [x] Read the code\n- [~] Write a test\n- [ ] Mend it\n- [-] Tell people\n")


def always(**wanted: object) -> Act:
    """An act that is the same whatever the plan is."""
    return lambda _plan: Wanted(**wanted)  # type: ignore[arg-type]


def _suggest(plan: PlanRecord) -> Wanted:
    return Wanted("suggest", plan_text=edited(plan))


def _withdraw(plan: PlanRecord) -> Wanted:
    return Wanted("withdraw", next(each.id for each in plan.suggestions if each.changes == (AddStep("Rest"),)))


def _withdraw_comment(plan: PlanRecord) -> Wanted:
    return Wanted("withdraw", next(each.id for each in plan.open_remarks if each.kept))


def _reopen(plan: PlanRecord) -> Wanted:
    return Wanted("reopen", next(each.id for each in plan.remarks if each.kept and each.closed))


#: Acts that depend on what was done before.
_LATER: Sequence[Act] = (_suggest, _withdraw, _withdraw_comment, _reopen)

CHANGES: Sequence[Act] = (
    always(act="tick", target="s3"),
    always(act="tick", target="s4"),
    always(act="set_status", target="s1", status="pending"),
    always(act="set_status", target="s1", status="in_progress"),
    always(act="reword", target="s2", text="Write two tests"),
    always(act="add", text="Ship it", after="s2"),
    always(act="add", text="Rest"),
    always(act="move", target="s1", by=1),
    always(act="move", target="s3", by=-1),
    always(act="remove", target="s4"),
    _suggest,
)
PRIORITY = always(act="set_priority", target="s3", priority="high")
WORDS: Sequence[Act] = (
    always(act="comment", target="s1", text="look here"),
    always(act="comment", text="and at all of it", keep=True),
    _withdraw_comment,
    _reopen,
    always(act="review", verdict="changes_requested", text="smaller steps"),
    always(act="review", verdict="approved", text="go ahead"),
)
QUESTION = ReviewAsked("main", (Choice("y", "Yes", "allow_once"), Choice("n", "No", "reject_once")), "q1")
ANSWERS: Sequence[Act] = (
    always(act="review", option="n", question="q1", text="smaller steps"),
    always(act="tell", text="and soon"),
    always(act="stop"),
)
SELECT = always(act="select", steps=("s1", "s3"))
DISMISS = always(act="dismiss")

SCRIPTS: dict[str, tuple[Callable[[Path], PlanSet], Sequence[Act]]] = {
    "a plan that the agent asks about": (lambda _: PlanSet(LIST, via=ACP), ANSWERS),
    "a list of planwire's own": (lambda _: PlanSet(LIST), (*CHANGES, PRIORITY, *WORDS, SELECT, DISMISS)),
    "a text of planwire's own": (lambda _: PlanSet(TEXT), (*CHANGES, *WORDS, SELECT, DISMISS)),
    "a list of the agent's": (
        lambda _: PlanSet(LIST, via=ACP),
        (*CHANGES, PRIORITY, *WORDS, SELECT, _withdraw, DISMISS),
    ),
    "a file": (
        lambda folder: PlanSet(FilePlan("main", (folder / "plan.md").as_uri()), via=ACP),
        (always(act="tick", target="s3"), *WORDS, DISMISS),
    ),
}


def written(journal: Path) -> tuple[list[tuple[str, Event]], object]:
    """The events of people, and the card of their plan without its times."""
    with open_journal(journal) as opened:
        [known] = opened.sessions()
        shown = load_session(opened, known, FilePlans())
        [card] = (*shown.cards(), *shown.dismissed())
        events = [(each.by, each.event) for each in opened.read(known.id, 2)]
    return events, _without_times(msgspec.to_builtins(plan_json(card)))


TIMES = ("at", "changed_at", "closed_at")


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if key not in TIMES}
    return [_without_times(each) for each in value] if isinstance(value, list | tuple) else value


@contextmanager
def a_relay_that_works(journal: Path) -> Iterator[None]:
    """A lease, as a relay has it whose agent can be told everything."""
    with open_journal(journal) as opened:
        opened.lease("s", Terms("relay", is_working=True, can=("answer", "tell", "steer", "stop")))
        yield


def test_the_scripts_have_every_act() -> None:
    plan = None
    names = {act(plan).act for _, acts in SCRIPTS.values() for act in acts if act not in _LATER}  # type: ignore[arg-type]
    assert names | {"suggest", "withdraw", "reopen"} == set(ACTS)


@pytest.mark.usefixtures("prompt_pilot")
@pytest.mark.parametrize("name", SCRIPTS)
def test_every_face_writes_the_same_events_and_shows_the_same_card(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, acts = SCRIPTS[name]
    (tmp_path / "plan.md").write_text(TEXT.content)
    note_folders(tmp_path)
    editor = editor_script(tmp_path)
    journals = {face: tmp_path / f"{face}.db" for face in ("commands", "http", "keys")}
    for journal in journals.values():
        with open_journal(journal) as opened:
            begun = SessionOpened("agent", None, str(tmp_path), "A session"), plan(tmp_path)
            deciding.write(opened, "s", *(Stamped(1_000_000, "agent", event) for event in begun))
            if acts is ANSWERS:
                deciding.write(opened, "s", Stamped(1_000_000, "agent", QUESTION))
    refused = int(name == "a file")
    done = len(acts) - refused
    with ExitStack() as held:
        for journal in journals.values():
            held.enter_context(a_relay_that_works(journal))
        assert by_command_line(journals["commands"], acts, editor) == [*refused * [1], *done * [0]]
        assert by_http(journals["http"], acts) == [*refused * [422], *done * [200]]
        asyncio.run(by_keys(journals["keys"], acts, monkeypatch, editor))
    by_commands, over_http, with_keys = map(written, journals.values())
    assert by_commands == over_http == with_keys
    assert len(by_commands[0]) >= done
