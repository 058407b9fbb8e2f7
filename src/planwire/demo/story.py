"""The story that the demo agent plays: updates with the seconds that pass before each, one list of beats per part.

An agent that is interrupted goes on later, so the story remembers how far its list has come.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from planwire.acp.words import COMPACTION_COMPLETED, COMPACTION_IN_PROGRESS
from planwire.chat.said import Said
from planwire.demo.heard import Listed, take_up
from planwire.model.statuses import BOXES

#: The fields of a `session/update`.
UpdateFields: TypeAlias = dict[str, Any]
#: Seconds to wait, and then an update.
Beat: TypeAlias = tuple[float, UpdateFields]

#: The id of the plan that the agent asks about.
PROPOSAL: Final = "proposal"
_FIX: Final = "# Fix the nightly export\n\nRows are written with the locale's encoding, "
_HALVES: Final = (
    "and whatever it can't hold is skipped. The fix has two halves:\n\n- write UTF-8, whatever the locale\n",
    "- stop skipping: a row that fails must fail loudly\n\n",
)
_KEEP: Final = "Old files stay as they are; the importer reads both.\n"
_REPAIR: Final = "Old files are repaired too: last week's are exported once more.\n"

_STEPS: Final = (
    ("Reproduce the loss with a small fixture", "Reproducing the loss with a small fixture", "high"),
    ("Find where rows are skipped", "Finding where rows are skipped", "high"),
    ("Write UTF-8 in the exporter", "Writing UTF-8 in the exporter", "high"),
    ("Raise instead of skipping", "Making the exporter raise instead of skipping", "medium"),
    ("Repair the files of last week", "Repairing the files of last week", "low"),
    ("Run the test suite", "Running the test suite", "medium"),
)
_FINDINGS: Final = "## Findings\n\n- [x] `export.py` opens files without an encoding\n"
#: Found on the way, and its place on the list.
_FOUND: Final = ("Set the locale in the cron job", "Setting the locale in the cron job", "medium")
_FOUND_AT: Final = 3
#: The step that is dropped unless a person asks for it, and its place once the other one was found.
_DROPPED_AT: Final = 5


class Story(Struct):
    """How far the agent has come: its list, its proposal, and the plans that it keeps only for a while."""

    steps: list[Listed] = []
    proposal: str = ""
    repairs: bool = False
    notes: list[str] = []

    def proposing(self) -> Iterator[Beat]:
        """The beats up to the question about the proposal, whose text arrives in pieces."""
        yield 0.4, _say("I'll look at the export first, then propose what to do.")
        yield 0.5, _text(PROPOSAL, _FIX)
        for delta in (*_HALVES, _KEEP):
            yield 0.4, {**_text(PROPOSAL, ""), "_meta": {"jetbrains": {"air": {"contentDelta": delta}}}}
        self.proposal = "".join((_FIX, *_HALVES, _KEEP))

    def revising(self) -> Iterator[Beat]:
        """The beats after a no."""
        self.repairs = True
        self.proposal = "".join((_FIX, *_HALVES, _REPAIR))
        yield 0.5, _say("Then I'll change it: I repair the old files, too.")
        yield 0.8, _text(PROPOSAL, self.proposal)

    def working(self, checklist: str) -> Iterator[Beat]:
        """The beats up to the compaction of the agent's context. `checklist` is the URI of a file plan."""
        self.steps = [Listed(*step) for step in _STEPS]
        yield 0.7, self._boxes("      ")
        yield 0.5, self._boxes("~     ")
        yield 0.4, _say("A fixture with three rows is enough to see it.")
        yield 0.7, self._boxes("x~    ")
        self.notes = ["findings", "risks"]
        yield 0.5, _text("findings", f"{_FINDINGS}- [ ] `rows.py`\n")
        yield 0.5, _plan("checklist", "file", uri=checklist)
        self.steps.insert(_FOUND_AT, Listed(*_FOUND))
        yield 0.7, self._boxes("xx~    ")
        yield (
            0.5,
            _text("findings", f"{_FINDINGS}- [x] `rows.py` swallows the error\n- [~] the cron job sets `LANG=C`\n"),
        )
        yield 0.4, _plan("risks", "_risks", risks=["old readers expect Latin-1"])
        yield 0.7, self._boxes("xxx~   ")
        if not self.repairs:
            self.steps[_DROPPED_AT].is_dropped = True
        yield 0.4, _compaction(COMPACTION_IN_PROGRESS)
        yield (
            0.6,
            _compaction(COMPACTION_COMPLETED, summary=[{"type": "text", "text": "The user wants the export fixed."}]),
        )

    def going_on(self, said: Sequence[Said], *, reminded: bool, forgot: bool) -> Iterator[Beat]:
        """The beats of every later prompt: what people said is taken up first, and the rest of the list worked off.

        `forgot`: the agent's context was compacted. `reminded` says whether the prompt brought the plan back.
        """
        if forgot and reminded:
            yield 0.4, _say("My context was compacted, and the prompt brought my plan back.")
        elif forgot:
            yield 0.4, _say("My context was compacted, and nothing reminded me of my plan. I have my notes.")
        self.steps = self.steps or [Listed(*step) for step in _STEPS]
        answers = take_up(said, self.steps)
        for answer in answers:
            yield 0.5, _say(answer)
        if answers:
            yield 0.2, self._list()
        if not any(step.is_open for step in self.steps):
            yield 0.3, _say("Everything on my list is done.")
            return
        while any(step.is_open for step in self.steps):
            self._go_on()
            yield 0.8, self._list()
            if self.notes:
                yield 0.4, {"sessionUpdate": "plan_removed", "planId": self.notes.pop(0)}
        yield 0.3, _say("All green.")

    def _go_on(self) -> None:
        """Finish the step in progress, and begin the next one."""
        for step in self.steps:
            if step.box == "~":
                step.box = "x"
        for step in self.steps:
            if step.is_open and step.is_dropped:
                step.box = "-"
            elif step.is_open:
                step.box = "~"
                return

    def _boxes(self, boxes: str) -> UpdateFields:
        """The list with these checkboxes."""
        for step, box in zip(self.steps, boxes, strict=True):
            step.box = box
        return self._list()

    def _list(self) -> UpdateFields:
        """The list. A step in progress has other words, as agents put it while they work on it."""
        entries = [
            {
                "content": step.doing if step.box == "~" else step.text,
                "priority": step.priority,
                "status": BOXES[step.box].word,
            }
            for step in self.steps
        ]
        return _plan("fix", "items", entries=entries)


def _say(text: str) -> UpdateFields:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": f"{text} "}}


def _compaction(status: str, **more: Any) -> UpdateFields:
    return {"sessionUpdate": "compaction_update", "compactionId": "c1", "status": status, **more}


def _plan(plan_id: str, kind: str, **content: Any) -> UpdateFields:
    return {"sessionUpdate": "plan_update", "plan": {"type": kind, "planId": plan_id, **content}}


def _text(plan_id: str, content: str) -> UpdateFields:
    return _plan(plan_id, "markdown", content=content)
