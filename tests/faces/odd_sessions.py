"""A journal of sessions as odd as agents and people make them, for asking every face about."""

from collections.abc import Iterator
from pathlib import Path
from time import time_ns

from msgspec.structs import replace

from planwire.journal import Stamped, open_journal
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Choice,
    Event,
    Gap,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    StepRef,
    StopAsked,
    Told,
    TurnEnded,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.model.records import ANSWER
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from tests.deciding import write

__all__ = ["odd_journal"]

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
UUID = "0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f"
CHECKLIST = "# Release 4.2\n\n- [x] tag\n- [x] build\n- [ ] publish\n- [ ] announce\n"
NESTED = "# Parser\n\nWhy: speed.\n\n1. [x] lexer\n   - [ ] numbers\n   - [-] strings\n2. [~] grammar\n"


def items(plan_id: str | None, *statuses: str, prefix: str = "step", via: str = ACP) -> PlanSet:
    entries = tuple(Entry(f"{prefix} {number}", "medium", status) for number, status in enumerate(statuses, 1))
    return PlanSet(ItemsPlan(plan_id, entries), via=via)


def text(plan_id: str | None, content: str) -> PlanSet:
    return PlanSet(MarkdownPlan(plan_id, content), via=ACP)


def suggests(*changes: StepChange, text: str = "") -> Remarked:
    return Remarked("main", SUGGESTION, text, 2, changes=changes)


def _sessions(folder: Path) -> Iterator[tuple[str, int, list[tuple[str, Event]]]]:
    """The sessions: an id, how long ago its last event was, and its events with their authors."""
    agent = "agent"
    cwd = str(folder)

    def opened(title: str | None = None, client: str | None = "Zed 1.2") -> tuple[str, Event]:
        return agent, SessionOpened("claude 2.0", client, cwd, title)

    def by_agent(*events: Event) -> list[tuple[str, Event]]:
        return [(agent, event) for event in events]

    done, todo, now = "completed", "pending", "in_progress"
    yield (
        "silent",
        26 * HOUR,
        [
            opened("Silent for more than a day"),
            *by_agent(
                items(None, done, done, now, todo, todo), items("a", done, done, done), items("b", done, todo, todo)
            ),
            *by_agent(PlanSet(FilePlan("checklist", (folder / "release.md").as_uri()), via=ACP)),
        ],
    )
    yield "killed", 3 * HOUR, [opened("Killed in the middle"), *by_agent(items("main", done, now, todo))]
    yield "running", MINUTE, [opened("Running now"), *by_agent(items("main", done, now, todo))]
    yield "waiting", 2 * HOUR, [opened("Ended its turn"), *by_agent(items("main", done, todo), TurnEnded("end_turn"))]
    lost = ("relay", Gap(288, "they came faster than they could be recorded"))
    yield "flooded", 4 * HOUR, [opened("Flooded"), *by_agent(items("main", todo)), lost, *by_agent(items("main", done))]
    yield "finished", 5 * HOUR, [opened("All done"), *by_agent(items("main", done, done), TurnEnded("end_turn"))]
    yield "cancelled", 6 * HOUR, [opened("Cancelled"), *by_agent(items("main", done, todo), TurnEnded("cancelled"))]
    yield "tokens", 7 * HOUR, [opened("No tokens left"), *by_agent(items("main", now, todo), TurnEnded("max_tokens"))]
    yield "refused", 8 * HOUR, [opened("Refused"), *by_agent(items("main", todo), TurnEnded("refusal"))]
    yield "strange-stop", 9 * HOUR, [opened("A reason nobody knows"), *by_agent(items("main", todo), TurnEnded("gone"))]
    yield (
        "asked",
        30 * MINUTE,
        [
            opened("Asks for a review"),
            *by_agent(text("proposal", "# Move to PostgreSQL\n\nBecause.\n"), ReviewAsked("proposal")),
        ],
    )
    yield (
        "asked-long-ago",
        40 * HOUR,
        [
            opened("Asked two days ago"),
            *by_agent(items("main", todo, todo), ReviewAsked("main", (Choice("yes", "Yes"), Choice("no", "No")))),
        ],
    )
    options = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")
    question = (items("main", todo, todo), ReviewAsked("main", options, "q1"))
    yes = PlanReviewed(
        "main", 2, APPROVED, answer="Yes", via="planwire", question="q1", option="yes", kind="allow_once"
    )
    no = PlanReviewed("main", 2, CHANGES_REQUESTED, answer="No", question="q1", option="no", kind="reject_once")
    yield "asked-with-options", 31 * MINUTE, [opened("Asks with options"), *by_agent(*question)]
    yield "answered-here", 32 * MINUTE, [opened("An answer is on its way"), *by_agent(*question), ("ana", yes)]
    told = Told(ANSWER, 0, request="q1")
    has_it = [*by_agent(*question), ("ana", yes), ("relay", told)]
    yield "answered-and-told", 33 * MINUTE, [opened("The agent has its answer"), *has_it]
    late = ("client", replace(no, late=True))
    yield "disputed", 34 * MINUTE, [opened("A no that came too late"), *has_it, late]
    yield (
        "overtaken",
        35 * MINUTE,
        [opened("The editor was faster"), *by_agent(*question), ("ana", yes), ("client", no)],
    )
    yield "stopped-by-hand", 36 * MINUTE, [opened("Stopped"), *by_agent(*question), ("ana", StopAsked())]
    yield (
        "approved",
        50 * MINUTE,
        [
            opened("Approved"),
            *by_agent(items("main", todo, todo), ReviewAsked("main")),
            ("user", PlanReviewed("main", 2, APPROVED)),
            ("user", Remarked("main", COMMENT, "go", 2, review=4)),
            ("user", Remarked("main", SELECTION, revision=2, steps=("s1",), review=4)),
        ],
    )
    yield (
        "stale-review",
        55 * MINUTE,
        [
            opened("A review of an earlier plan"),
            *by_agent(items("main", todo, todo)),
            ("ana", PlanReviewed("main", 2, CHANGES_REQUESTED)),
            ("ana", Remarked("main", COMMENT, "smaller", 2, "s2", review=3)),
            ("ana", Remarked("main", REQUEST, "please", 2, review=3)),
            *by_agent(items("main", now, todo)),
        ],
    )
    yield (
        "suggestions",
        12 * MINUTE,
        [
            opened("Suggestions of every kind"),
            *by_agent(items("main", done, now, todo, todo)),
            ("user", suggests(SetStatus("s3", done))),
            ("user", suggests(RewordStep("s3", "another text"))),
            ("ana", suggests(AddStep("one more", "s1"), MoveStep("s4", "s1"), text="because")),
            ("ana", suggests(RemoveStep("s4"), SetPriority("s2", "high"))),
            ("user", Remarked("main", COMMENT, "look here", 2, "s2")),
            ("user", Remarked("main", COMMENT, "and here", 2)),
        ],
    )
    yield (
        "file",
        HOUR,
        [
            opened("A plan in a file"),
            *by_agent(PlanSet(FilePlan("release", (folder / "release.md").as_uri()), via=ACP), TurnEnded("end_turn")),
        ],
    )
    yield (
        "file-elsewhere",
        HOUR + MINUTE,
        [
            opened("A file that nobody may read"),
            *by_agent(PlanSet(FilePlan("passwd", "file:///etc/passwd"), via=ACP)),
        ],
    )
    yield (
        "file-gone",
        HOUR + 2 * MINUTE,
        [
            opened("A file that is gone"),
            *by_agent(PlanSet(FilePlan(UUID, (folder / "gone.md").as_uri()), via=ACP)),
        ],
    )
    yield (
        "custom",
        70 * MINUTE,
        [
            opened("A kind of its own"),
            *by_agent(PlanSet(OtherPlan("board", "kanban", {"columns": ["To do", "Done"]}), via=ACP)),
        ],
    )
    yield "text", 80 * MINUTE, [opened("A text with tasks"), *by_agent(text("parser", NESTED))]
    yield "prose", 81 * MINUTE, [opened("Prose alone"), *by_agent(text(UUID, "Just words, no heading."))]
    yield (
        "uuids",
        82 * MINUTE,
        [
            opened("Plans without names"),
            *by_agent(items(UUID, done, todo), items(UUID.replace("0198", "0199"), todo), items("main", todo)),
        ],
    )
    yield (
        "rtl",
        83 * MINUTE,
        [
            opened("تحديث الإعدادات"),
            *by_agent(
                PlanSet(ItemsPlan("main", (Entry("اكتب الاختبارات", "high", now), Entry("שלום", "low", todo))), via=ACP)
            ),
        ],
    )
    yield (
        "hostile",
        84 * MINUTE,
        [
            opened("x\x1b]0;pwned\x07\u202ey\u2028z"),
            *by_agent(
                PlanSet(ItemsPlan("<b>&", (Entry("</li>\x1b[2J", "odd", "blocked"), Entry("", "medium", "")))),
            ),
        ],
    )
    yield (
        "hostile-text",
        84 * MINUTE + 1,
        [
            opened("Every spelling"),
            *by_agent(text("evil", "# One\u202e&#x202e;\n\n&#8232;a\u061c\n\n- [ ] b\u2028 *c*&#x202e;\n")),
        ],
    )
    yield (
        "twins",
        84 * MINUTE + 2,
        [
            opened("Plans of one name, one of them dismissed, one a file"),
            *by_agent(items(UUID, todo), items("x-" + UUID, done), text("a", "# Release 4.2\n\n- [ ] build\n")),
            *by_agent(PlanSet(FilePlan("y-" + UUID, (folder / "release.md").as_uri()), via=ACP)),
            *by_agent(PlanSet(FilePlan("z-" + UUID, (folder / "plain.md").as_uri()), via=ACP)),
            *by_agent(PlanSet(FilePlan("w-" + UUID, (folder / "release.md").as_uri()), via=ACP)),
            ("user", PlanRemoved(UUID)),
            ("user", PlanRemoved("w-" + UUID)),
            *by_agent(items("x-" + UUID, done, todo)),
        ],
    )
    yield (
        "long",
        85 * MINUTE,
        [opened("Two thousand steps"), *by_agent(items("main", *1_200 * [done], now, *799 * [todo]))],
    )
    yield "untitled", 86 * MINUTE, [(agent, SessionOpened("codex", None, cwd)), *by_agent(items(None, todo))]
    yield "nameless", 87 * MINUTE, by_agent(items(None, todo, done))
    yield "no-plan", 88 * MINUTE, [opened("No plan yet")]
    yield "empty-list", 89 * MINUTE, [opened("An empty list"), *by_agent(items("main"))]
    yield (
        "dismissed",
        90 * MINUTE,
        [
            opened("Its plan was dismissed"),
            *by_agent(items("main", done, todo)),
            ("user", PlanRemoved("main")),
        ],
    )
    yield "only-cancelled", 91 * MINUTE, [opened("All cancelled"), *by_agent(items("main", "cancelled", "cancelled"))]
    yield (
        "mixed",
        92 * MINUTE,
        [
            opened("Texts, lists, files and questions"),
            *by_agent(text("notes", "Some notes."), items("steps", done, "canceled", "blocked", now)),
            *by_agent(PlanSet(FilePlan("file", (folder / "release.md").as_uri()), via=ACP)),
            *by_agent(text("question", "# What now?\n"), ReviewAsked("question")),
        ],
    )
    yield (
        "ours",
        93 * MINUTE,
        [
            opened("Made with planwire's tools"),
            *by_agent(PlanSet(items("main", todo, todo).plan, "People notice it.")),
            *by_agent(PlanChanged("main", "was quick", (SetStatus("s1", done), SetStatus("s2", now)))),
        ],
    )
    yield (
        "tree",
        94 * MINUTE,
        [
            opened("Plans below plans"),
            *by_agent(PlanSet(items("deep", todo, now).plan, parent=StepRef("below", "s2"))),
            *by_agent(PlanSet(items("over", done, done).plan, parent=StepRef("lead", "s2"))),
            *by_agent(PlanSet(items("lead", now, todo).plan), PlanSet(items("gone", todo).plan)),
            *by_agent(PlanSet(items("below", done, now).plan, parent=StepRef("lead", "s1"))),
            *by_agent(PlanSet(items("orphan", todo).plan, parent=StepRef("gone", "s1"))),
            ("user", PlanRemoved("gone")),
        ],
    )


def odd_journal(folder: Path) -> Path:
    """Write the journal into a folder, with the files of its plans beside it."""
    (folder / "release.md").write_text(CHECKLIST)
    (folder / "plain.md").write_text("No heading.\n\n- [x] one\n")
    path = folder / "odd.db"
    now = time_ns() // 1_000_000
    with open_journal(path) as journal:
        for session, ago, events in _sessions(folder):
            write(journal, session, *(Stamped(now - ago, by, event) for by, event in events))
    return path
