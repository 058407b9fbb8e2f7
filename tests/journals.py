"""A journal with sessions as agents, people and the relay leave them."""

from functools import partial
from pathlib import Path
from time import time_ns

from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    COMMENT,
    SELECTION,
    SUGGESTION,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Remarked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import AddStep, SetStatus
from tests import deciding

__all__ = ["DAY", "FIRST", "HOSTILE", "SECOND", "THIRD", "add", "filled_journal", "items"]

#: Two ids that begin alike, as those of agents that put the time first do, and one that does not.
FIRST = "0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f"
SECOND = "0198f3c2-9d00-7000-8000-aaaaaaaaaaaa"
THIRD = "tools"
#: What must never reach a terminal as it is: escapes, a control character of eight bits, a bidirectional override.
HOSTILE = "x\x1b]0;pwned\x07\x1b[2J\x9b31m\u202ey"
MINUTE = 60_000
DAY = 86_400_000


def items(plan_id: str | None, *statuses: str) -> ItemsPlan:
    texts = ("Read the code", "Write a test", "Mend it", "Tell people")
    return ItemsPlan(
        plan_id, tuple(Entry(text, "medium", status) for text, status in zip(texts, statuses, strict=False))
    )


def add(path: Path, session: str, by: str, *events: Event, ago: int = 0) -> None:
    with open_journal(path) as journal:
        _write(journal, session, by, *events, ago=ago)


def _write(journal: Journal, session: str, by: str, *events: Event, ago: int) -> None:
    at = time_ns() // 1_000_000 - ago
    deciding.write(journal, session, *(Stamped(at, by, event) for event in events))


def filled_journal(path: Path, folder: str) -> Path:
    """An agent's own plan with a suggestion and a review, one made with the tools, and one that is done."""
    with open_journal(path) as journal:
        write = partial(_write, journal)
        opened = SessionOpened("codex-acp 0.16.0", "acpx", "/elsewhere", "Build anew")
        write(SECOND, "agent", opened, PlanSet(items("main", *2 * ["completed"])), TurnEnded("end_turn"), ago=3 * DAY)
        plan = PlanSet(items("main", "in_progress", "pending", "pending"), "People notice it.")
        statuses = SetStatus("s1", "completed"), SetStatus("s2", "in_progress")
        delta = PlanChanged("main", "the cookie is not sent", statuses)
        notes = PlanSet(FilePlan("notes", "file:///notes.md")), PlanRemoved("notes")
        write(THIRD, "agent", SessionOpened("my agent", None, folder, None), plan, delta, *notes, ago=2 * DAY)
        write(THIRD, "agent", TurnEnded("cancelled"), ago=DAY)
        opened = SessionOpened("claude-agent-acp 0.99.0", "zed", folder, "Mend the redirect")
        write(FIRST, "relay", opened, ago=40 * MINUTE)
        write(FIRST, "agent", PlanSet(items(None, "in_progress", "pending", "pending"), via=ACP), ago=40 * MINUTE)
        write(
            FIRST, "user", Remarked(None, SUGGESTION, "soon", changes=(AddStep("Check the logout"),)), ago=35 * MINUTE
        )
        write(FIRST, "agent", PlanSet(items(None, "completed", "in_progress", "pending"), via=ACP), ago=30 * MINUTE)
        comment = Remarked(None, COMMENT, "Small commits", 4, "s3", review=5)
        chosen = Remarked(None, SELECTION, revision=4, steps=("s2", "s3"), review=5)
        write(FIRST, "user", PlanReviewed(None, 4, CHANGES_REQUESTED), comment, chosen, ago=20 * MINUTE)
        write(FIRST, "agent", PlanSet(MarkdownPlan("design", "# Design\n\nThe first word.\n"), via=ACP), ago=9 * MINUTE)
    return path
